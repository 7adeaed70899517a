// Sentences and waterfalls of lost efficiency.
#include "cli/answers/why_tables.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <utility>

using namespace dt;
using namespace dt::cli;
using store::Factor;

namespace {

// 8 nodes of which efficiency fell to 71 %; 19 points are lost to communication, 6 to jitter, 4.5 to the batch, and contention
// gained half a point.
store::Attribution example()
{
  store::Attribution point{.label = "", .nodes = 8, .ranks = 8, .workers = 8, .size = 8, .runs = 5};
  point.baseline_size = 1;
  point.efficiency = 0.71;
  point.interval = {0.69, 0.73};
  point.has_split = true;
  point.latest_host = "host3";
  point.latest_host_runs = 4;
  point.communication.exposed_s = 0.002;
  const auto lose = [&](Factor factor, double lost) { point.lost[static_cast<std::size_t>(factor)] = lost; };
  lose(Factor::communication, 0.19);
  lose(Factor::jitter, 0.06);
  lose(Factor::batch, 0.045);
  lose(Factor::contention, -0.005);
  return point;
}

std::vector<std::string> titles(const Table& table)
{
  std::vector<std::string> titles;
  for (const auto& column : table.columns)
    if (!column.title.empty()) titles.push_back(column.title);
  return titles;
}

bool has(const std::vector<std::string>& texts, const std::string& text)
{
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

} // namespace

TEST_CASE("the sentence names efficiency, interval, runs, the costs in order, the host, and the gains")
{
  CHECK(sentence_of(example(), {}) ==
        "8 nodes: 71.0 % [69.0, 73.0] of the throughput per worker of 1 node (5 runs). Exposed communication costs 19.0 points, "
        "jitter 6.0 (host3 in 4 of 5 runs), the smaller batch 4.5. Contention gains 0.5 points.");
}

TEST_CASE("costs and gains that the runs bound are told with their intervals, and programs get the bounds")
{
  auto point = example();
  const auto bound = [&](Factor factor, double low, double high) {
    point.lost_intervals[static_cast<std::size_t>(factor)] = {low, high};
  };
  bound(Factor::communication, 0.172, 0.208);
  bound(Factor::jitter, 0.04, 0.082);
  bound(Factor::contention, -0.02, 0.01);
  for (const auto* part : {" 19.0 points [17.2, 20.8], ", " 6.0 [4.0, 8.2] (host3", " 0.5 points [-1.0, 2.0]."})
    CHECK(sentence_of(point, {}).find(part) != std::string::npos);
  const auto row = to_json(attribution_table({point}, {}))[0];
  CHECK(row.at("lost_jitter_low") == 0.04);
  CHECK(row.at("lost_jitter_high") == 0.082);
  CHECK(row.at("lost_batch_low").is_null());
}

TEST_CASE("notes say that one rank alone does not predict the baseline, and that runs without equal steps have no fast worker")
{
  auto point = example();
  point.reference = store::Reference::fast_worker;
  CHECK(uncertainty_notes({point}).empty());
  point.lone_deviation = std::log(1.07);
  REQUIRE(uncertainty_notes({point, point}).size() == 1);
  CHECK(uncertainty_notes({point, point})[0].find("the steps of 1 node with an error of 7 %") != std::string::npos);
  point.lone_deviation = 0.001;
  point.reference = store::Reference::mean_worker;
  REQUIRE(uncertainty_notes({point}).size() == 1);
  CHECK(uncertainty_notes({point})[0].find("measured against the mean worker") != std::string::npos);
  CHECK(to_json(attribution_table({point}, {}))[0].at("reference") == "mean worker");
  point.baseline_size = 0; // an ideal machine
  CHECK(uncertainty_notes({point}).empty());
}

TEST_CASE("a baseline has no sentence, a point of a single size is compared with a machine without waiting, one node has no host")
{
  auto point = example();
  point.is_baseline = true;
  CHECK(sentence_of(point, {}).empty());
  point.is_baseline = false;
  point.baseline_size = 0;
  point.label = "strategy=easgd";
  CHECK(sentence_of(point, {}).starts_with("strategy=easgd, 8 nodes: "));
  CHECK(sentence_of(point, {}).find("that its own computation would allow without any waiting") != std::string::npos);
  point.nodes = 1;
  CHECK(sentence_of(point, {}).find(" 8 ranks: ") != std::string::npos);
  CHECK(sentence_of(point, {}).find("host3") == std::string::npos);
  point.ranks = 9; // one server
  CHECK(sentence_of(point, {}).find(" 8 workers: ") != std::string::npos);
}

TEST_CASE("a point that lost nothing says so, and one with a target tells the samples that it needed")
{
  auto point = example();
  point.lost = {};
  point.efficiency = 1;
  point.interval = {not_measured, not_measured};
  point.statistical_efficiency = 0.8;
  point.time_efficiency = 0.8;
  CHECK(sentence_of(point, {}).ends_with(
      "(5 runs). No factor costs half a point. It needs 1.25 times the samples to the target, so "
      "its efficiency in time to accuracy is 80.0 %."));
}

TEST_CASE("without a time of one rank alone, of this point or another one of its study, all speak of computation")
{
  auto point = example();
  point.lost[static_cast<std::size_t>(Factor::contention)] = 0.1;
  auto other = point;
  other.has_split = false;
  point.is_in_mixed_study = true;
  for (const auto& one : {point, other}) {
    CHECK(sentence_of(one, {}).find(", computation 10.0") != std::string::npos);
    CHECK(waterfall_of(one, {}).find("  computation ") != std::string::npos);
    CHECK(has(titles(attribution_table({one, other}, {})), "computation"));
  }
  CHECK_FALSE(has(titles(attribution_table({other}, {})), "contention"));
}

TEST_CASE("rates of links are shown in a unit that leaves few digits")
{
  auto point = example();
  const auto shown = [&](double bytes_per_s) {
    point.communication.bandwidth = bytes_per_s;
    const auto table = communication_table({point}, {});
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].title == "bandwidth") return table.rows[0][i].text;
    return std::string();
  };
  CHECK(shown(4.21e6) == "33.7 Mbit/s");
  CHECK(shown(1.6e9) == "12.8 Gbit/s");
  CHECK(shown(5e3) == "40 kbit/s");
}

TEST_CASE("time outside phases has a column and a sentence of its own, and is no communication")
{
  auto point = example();
  CHECK_FALSE(has(titles(attribution_table({point}, {})), "outside phases"));
  auto& communication = point.lost[static_cast<std::size_t>(store::Factor::communication)];
  point.lost[static_cast<std::size_t>(store::Factor::outside)] = std::exchange(communication, 0);
  CHECK(has(titles(attribution_table({point}, {})), "outside phases"));
  for (const auto& text : {sentence_of(point, {}), waterfall_of(point, {})}) {
    CHECK(text.find("ommunication") == std::string::npos);
    CHECK(text.find("ime outside phases") != std::string::npos);
  }
}

TEST_CASE("the waterfall goes from the baseline down to the point, with a line for each cause")
{
  auto point = example();
  const std::string full = "████████████████████████████████████████";
  CHECK(waterfall_of(point, {}).starts_with("  1 node                     100.0 %  " + full +
                                            "\n"
                                            "  the smaller batch           -4.5    "));
  point.label = "strategy=easgd";
  CHECK(waterfall_of(point, {}).starts_with("strategy=easgd\n  1 node "));
  CHECK(waterfall_of(point, {}).ends_with("  8 nodes                     71.0 %  ████████████████████████████\n"));
}

TEST_CASE("the column of queues is shown with servers only, and points of one rank have no row of communication")
{
  const auto without = attribution_table({example()}, {});
  CHECK_FALSE(has(titles(without), "queueing"));
  auto served = example();
  served.ranks = 9;
  CHECK(has(titles(attribution_table({served}, {})), "queueing"));
  // Programs get it in both.
  CHECK(to_json(without)[0].contains("lost_queueing"));
  auto one = example();
  one.ranks = one.workers = 1;
  CHECK(communication_table({one, example()}, {}).rows.size() == 1);
}

TEST_CASE("a program that reports no communication does not get the answer that computation is slower, but what dtctl cannot "
          "separate, and why")
{
  auto point = example();
  point.lost.fill(not_measured);
  point.lost[static_cast<std::size_t>(Factor::together)] = 0.29;
  point.missing.communication = true;
  point.interval = {not_measured, not_measured};
  CHECK(sentence_of(point, {}).ends_with("(5 runs). Computation or communication costs 29.0 points."));
  REQUIRE(missing_phases_notes({point, point}).size() == 1);
  CHECK(missing_phases_notes({point, point})[0].starts_with("Not every rank of the program reports `communication`: "));
  CHECK(has(titles(attribution_table({point}, {})), "together"));
  CHECK_FALSE(has(titles(attribution_table({example()}, {})), "together"));
  point.missing = {.input = true, .work = true};
  CHECK(missing_phases_notes({point})[0].starts_with(
      "Not every rank of the program reports `input` and one of `forward`, `backward` and `optimizer`: "));
  point.efficiency = not_measured;
  CHECK(sentence_of(point, {}).find("nan") == std::string::npos);
}

TEST_CASE("of a point that a CPU quota held back the sentence names the quota and no factor")
{
  auto point = example();
  point.throttled_share = 0.752;
  point.lost.fill(not_measured);
  CHECK(sentence_of(point, {}).find("A CPU quota held ranks back for up to 75 % of the time") != std::string::npos);
  CHECK(sentence_of(point, {}).find(" costs 19.0 points") == std::string::npos);
}
