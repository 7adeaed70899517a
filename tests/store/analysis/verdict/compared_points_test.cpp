#include "store/analysis/verdict/best_points.hpp"
#include "store/analysis/verdict/compared_points.hpp"

#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using Catch::Contains;
using dt::test::error_of;

namespace {

Run run_of(const std::string& series, std::int64_t ranks, const std::string& value = "")
{
  Run run;
  run.key = series + "/" + std::to_string(ranks);
  run.series = series;
  run.value = value;
  run.nodes = 1;
  run.ranks = ranks;
  run.succeeded = true;
  run.throughput = 100;
  run.wall_s = 3600;
  return run;
}

std::vector<ComparedPoint> points(const std::vector<Run>& runs, std::string_view key = {}) { return points_of(runs, key); }

std::vector<std::string> names(const std::vector<ComparedPoint>& all)
{
  std::vector<std::string> found;
  for (const auto& point : all) found.push_back(name_of(point));
  return found;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("repeats make a point, points come in natural order, and controls are left out")
{
  auto control = run_of("period=4", 2);
  control.is_control = true;
  const auto found =
      points({run_of("period=16", 2), run_of("period=4", 4), run_of("period=4", 2), run_of("period=4", 2), control});
  CHECK(names(found) == Names{"period=4, 2 ranks", "period=4, 4 ranks", "period=16, 2 ranks"});
  CHECK(found[0].runs.size() == 2);
}

TEST_CASE("points of two studies are matched by label and size, or by size alone if each has one label, and those without a "
          "partner are kept")
{
  const auto matching =
      matched(points({run_of("x", 1), run_of("x", 2), run_of("y", 1)}), points({run_of("y", 1), run_of("x", 2), run_of("z", 1)}));
  REQUIRE(matching.pairs.size() == 2);
  CHECK(name_of(matching.pairs[0].a) == "x, 2 ranks");
  CHECK(name_of(matching.pairs[1].b) == "y, 1 rank");
  CHECK(names(matching.only_a) == Names{"x, 1 rank"});
  CHECK(names(matching.only_b) == Names{"z, 1 rank"});
  CHECK(matched(points({run_of("x", 1)}), points({run_of("y", 8)})).pairs.size() == 1);
  CHECK(matched(points({run_of("x", 1), run_of("x", 2)}), points({run_of("y", 1), run_of("y", 2)})).pairs.size() == 2);
}

TEST_CASE("points that do not match, or that the key does not tell apart, are an error that lists them")
{
  const auto a = points({run_of("x", 1), run_of("y", 1)}), b = points({run_of("u", 1), run_of("v", 1)});
  const auto unmatched = error_of([&] { matched(a, b); });
  CHECK(unmatched.kind() == ErrorKind::usage);
  CHECK_THAT(unmatched.what(), Contains("points of A:\n    x, 1 rank\n    y, 1 rank") && Contains("u, 1 rank"));
  CHECK(points({run_of("rate=1", 1, "lenet"), run_of("rate=2", 1, "lenet")}, "model").size() == 2);
  const auto alike = std::vector<Run>{run_of("strategy=a", 1, "same"), run_of("sync.strategy=b", 1, "same")};
  CHECK_THROWS_WITH(points(alike, "sync.strategy"), Contains("stands for 2 different points") && Contains("sync.strategy=b"));
}

TEST_CASE("values of a key compete at each size, sizes with each other if the key is a size, and other parameters are kept apart "
          "or follow")
{
  const auto contests =
      contests_of(points({run_of("strategy=a", 1, "a"), run_of("strategy=b", 1, "b"), run_of("strategy=a", 2, "a"),
                          run_of("strategy=b", 2, "b"), run_of("strategy=a", 4, "a")},
                         "sync_strategy"),
                  "sync_strategy");
  REQUIRE(contests.size() == 2);
  CHECK(contests[1].name == "2 ranks");
  CHECK(contests[1].points[1].candidate == "sync_strategy=b");
  const auto sizes =
      contests_of(points({run_of("", 1, "1"), run_of("", 2, "2")}, "resources.ranks_per_node"), "resources.ranks_per_node");
  REQUIRE(sizes.size() == 1);
  CHECK(sizes[0].points.size() == 2);
  CHECK(contests_of(points({run_of("", 1), run_of("", 2)})).empty());
  const auto beside = contests_of(points({run_of("strategy=a rate=1", 1, "a"), run_of("strategy=b rate=1", 1, "b"),
                                          run_of("strategy=a rate=2", 1, "a"), run_of("strategy=b rate=2", 1, "b")},
                                         "sync.strategy"),
                                  "sync.strategy");
  REQUIRE(beside.size() == 2);
  CHECK(beside[0].name == "rate=1, 1 rank");
  const auto following = contests_of(
      points({run_of("strategy=a period=1", 1, "a"), run_of("strategy=b period=4", 1, "b")}, "sync.strategy"), "sync.strategy");
  REQUIRE(following.size() == 1);
  CHECK(following[0].points.size() == 2);
}

TEST_CASE("what compared runs should have in common and do not is named, once")
{
  auto a = run_of("x", 1), b = run_of("x", 1);
  a.engine_build = "0123456789abcdef";
  b.engine_build = "fedcba9876543210";
  a.global_batch = b.global_batch = 64;
  a.model = "lenet";
  b.model = "alexnet";
  const auto between = [](const Run& one, const Run& other) { return differences(matched(points({one}), points({other}))); };
  CHECK(between(a, b) ==
        Names{"the models differ: A has lenet, B has alexnet", "the builds differ: A has 0123456789, B has fedcba9876"});
  auto own = a, changed = a, modelled = a;
  own.engine_build = "files-259f620af1dcda4e";
  changed.engine_build = "files-da9708c64b15fa1a";
  CHECK(between(own, changed) == Names{"the builds differ: A has files 259f620af1, B has files da9708c64b"});
  CHECK(between(a, a).empty());
  modelled.modelled_rate = 800;
  CHECK(between(a, modelled) == Names{"the modelled rates differ: A has 0, B has 800"});
  b.series = "y";
  CHECK(differences(contests_of(points({a, b}))).front() == "the models of the candidates differ: alexnet and lenet");
}

namespace {

PricedPoint priced(const std::string& name, double throughput, double time_s, double hours)
{
  return {.name = name,
          .runs = 3,
          .succeeded = 3,
          .reached = 3,
          .with_target = time_s > 0 ? std::size_t{3} : 0,
          .figures = {{Metric::throughput, throughput}, {Metric::time_to_target, time_s}, {Metric::node_hours, hours}}};
}

std::string order(const std::vector<PricedPoint>& all, Metric metric)
{
  std::string text;
  for (const auto& point : best_points(all, metric))
    text += (text.empty() ? "" : " ") + point.name + (point.is_in_set ? "*" : "");
  return text;
}

} // namespace

TEST_CASE("the best points come first and are marked, and a point at which most runs missed the target is in no Pareto set and "
          "comes last")
{
  const std::vector<PricedPoint> all{priced("cheap", 100, 9, 1), priced("bad", 90, 10, 3), priced("fast", 300, 4, 4),
                                     priced("mid", 200, 5, 2)};
  CHECK(order(all, Metric::throughput) == "fast* mid* cheap* bad");
  CHECK(order(all, Metric::time_to_target) == "fast* mid* cheap* bad");
  CHECK(order(all, Metric::node_hours) == "cheap* mid* fast* bad");
  const std::vector<PricedPoint> times{priced("missed", 500, std::numeric_limits<double>::infinity(), 1),
                                       priced("reached", 100, 9, 5)};
  CHECK(order(times, Metric::time_to_target) == "reached* missed");
}

TEST_CASE("equals share the mark of the best points, and so does what these runs cannot tell from them")
{
  // Node-hours follow the throughput, as in studies of one size.
  const auto runs_with = [](const std::string& series, const std::vector<double>& throughputs) {
    std::vector<Run> runs;
    for (const double throughput : throughputs) {
      runs.push_back(run_of(series, 2));
      runs.back().key += "/" + std::to_string(runs.size());
      runs.back().throughput = throughput;
      runs.back().wall_s = 1e5 / throughput;
    }
    return runs;
  };
  const auto marked = [&](const std::vector<std::vector<double>>& candidates) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      for (auto& run : runs_with(std::string(1, static_cast<char>('a' + i)), candidates[i])) runs.push_back(run);
    std::string marks;
    for (const auto& point : best_points(priced_points(points(runs)), Metric::throughput))
      if (point.is_in_set) marks += point.name.front();
    return marks;
  };
  CHECK(marked({{10, 11, 10}, {11, 10, 10}, {10, 10, 10}}) == "abc");    // rounded
  CHECK(marked({{100, 104, 96}, {101, 97, 103}, {80, 81, 79}}) == "ba"); // c is measurably slower
  CHECK(marked({{100, 101, 99}, {110, 111, 109}}) == "b");
  CHECK(marked({{100, 101}, {102, 101}}) == "b");            // too few runs to tell: by the figures
  CHECK(marked({{100, 100, 100}, {101, 101, 101}}) == "ba"); // constant figures tell nothing
}

TEST_CASE("node-hours are weighed against the throughput if no run has a target, and energy always is")
{
  const std::vector<PricedPoint> all{priced("slow", 100, not_measured, 2), priced("fast", 200, not_measured, 2)};
  CHECK(weighed_of(Metric::node_hours, all).first == Metric::throughput);
  CHECK(order(all, Metric::node_hours) == "fast* slow");
  std::vector<PricedPoint> energies{priced("fast", 300, 4, 1), priced("lean", 100, 9, 9), priced("bad", 90, 10, 1),
                                    priced("unknown", 900, 1, 1)};
  energies[0].figures[Metric::energy] = 5;
  energies[1].figures[Metric::energy] = 2;
  energies[2].figures[Metric::energy] = 3;
  CHECK(order(energies, Metric::energy) == "lean* fast* bad unknown");
}

TEST_CASE("comparisons know every metric of core, in its order, by its name and with its direction")
{
  REQUIRE(metric_rows().size() == metric_words.size());
  for (std::size_t i = 0; i < metric_words.size(); ++i) {
    const auto& [metric, name, is_larger_better, is_raced, is_tuned] = metric_words[i];
    CHECK(metric_rows()[i].metric == metric);
    CHECK(metric_rows()[i].name == name.name);
    CHECK((metric_rows()[i].better == Better::larger) == is_larger_better);
    CHECK(metric_of(name.name) == metric);
  }
}

TEST_CASE("figures of a point are geometric means of its runs, and medians with misses as infinite where a run missed the target")
{
  auto runs = std::vector<Run>{run_of("x", 2), run_of("x", 2), run_of("x", 2)};
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].key = std::to_string(i);
    runs[i].nodes = 2;
    runs[i].target_accuracy = 0.9;
    if (i > 0) runs[i].time_to_accuracy_s = static_cast<double>(i);
    if (i > 0) runs[i].samples_to_accuracy = 640 * static_cast<double>(i);
  }
  const auto point = priced_points(points(runs)).at(0);
  CHECK(point.figure(Metric::node_hours) == 2);
  CHECK(point.figure(Metric::time_to_target) == 2);
  CHECK(point.figure(Metric::samples) == 1280);
  CHECK(point.reached == 2);
  CHECK(point.with_target == 3);
}

TEST_CASE("what the runs of a program depended on is told where the sides or the candidates differ, and not of failed runs")
{
  auto a = run_of("a", 2), b = run_of("a", 2), failed = run_of("a", 2);
  a.depends_on = {{"GPUs", "none"}, {"Python environments", "CPython 3.11.2, 3 packages (01)"}};
  b.depends_on = {{"GPUs", "none"}, {"Python environments", "CPython 3.12.1, 3 packages (02)"}};
  failed.depends_on = {{"GPUs", "1 x NVIDIA A30"}};
  failed.succeeded = false;
  const auto found = differences(matched(points({a}), points({b, failed})));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Contains("Python environments") && Contains("CPython 3.11.2") && Contains("CPython 3.12.1"));
  CHECK(differences(matched(points({a}), points({a}))).empty());
  CHECK(differences(matched(points({a}), points({run_of("a", 2)}))).empty()); // of dtengine, or of an exported file
  b.series = "b";
  const auto between = differences(contests_of(points({a, b})));
  REQUIRE(between.size() == 1);
  CHECK_THAT(between[0], Contains("Python environments of the candidates") && Contains("3.11.2") && Contains("3.12.1"));
}
