#include "store/analysis/verdict/verdict.hpp"

#include "core/error.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr double miss = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// Succeeded runs with these throughputs, on two ranks of one node for an hour.
std::vector<Run> runs_of(const Values& throughputs, const std::string& series = "")
{
  std::vector<Run> runs;
  for (const double value : throughputs) {
    Run run;
    run.key = series + std::to_string(runs.size());
    run.series = series;
    run.nodes = 1;
    run.ranks = 2;
    run.seed = 1 + static_cast<std::int64_t>(runs.size());
    run.succeeded = true;
    run.throughput = value;
    run.accuracy = value / 1000;
    run.wall_s = 3600;
    runs.push_back(run);
  }
  return runs;
}

// Runs with a target and these times to it.
std::vector<Run> timed_runs(const Values& times, const std::string& series = "")
{
  auto runs = runs_of(Values(times.size(), 100), series);
  for (std::size_t i = 0; i < times.size(); ++i) {
    runs[i].target_accuracy = 0.9;
    if (std::isfinite(times[i])) runs[i].time_to_accuracy_s = times[i];
  }
  return runs;
}

Judged judged(const std::vector<Run>& a, const std::vector<Run>& b, Metric metric, double margin = 0.02)
{
  auto sample_a = sample_of("A", a, metric), sample_b = sample_of("B", b, metric);
  const std::vector<Candidate> both{sample_a.candidate, sample_b.candidate};
  const auto scatter = pooled_scatter(both, metric_row(metric).scale);
  return judge("point", metric, sample_a, sample_b, {.margin = margin}, scatter);
}

Judged by_throughput(const Values& a, const Values& b, double margin = 0.02)
{
  return judged(runs_of(a), runs_of(b), Metric::throughput, margin);
}

Judged by_time(const Values& a, const Values& b) { return judged(timed_runs(a), timed_runs(b), Metric::time_to_target); }

Standing ranked(const std::vector<std::vector<Run>>& candidates, Metric metric)
{
  std::vector<Sample> samples;
  for (const auto& runs : candidates) samples.push_back(sample_of(runs.front().series, runs, metric));
  return standing_of("2 ranks", metric, samples, {});
}

} // namespace

TEST_CASE("a planted difference of 10 % is found, with effect and interval")
{
  const auto verdict = by_throughput({110, 111, 109}, {100, 101, 99});
  CHECK(verdict.comparison.verdict == Verdict::faster);
  CHECK_THAT(sentence_of(verdict), StartsWith("A is faster than B: +10.0 % [+7."));
  CHECK(by_throughput({100, 101, 99}, {110, 111, 109}).comparison.verdict == Verdict::slower);
}

TEST_CASE("two samples of equals give no verdict, but what would decide")
{
  const auto verdict = by_throughput({100, 104, 96}, {101, 97, 103}, 0.02);
  CHECK(verdict.comparison.verdict == Verdict::cannot_tell);
  const auto more = more_repeats(verdict.comparison);
  REQUIRE(more.decides);
  CHECK(verdict.more.per_side == more.per_side);
  CHECK(verdict.more_node_hours == Approx(2 * static_cast<double>(more.per_side)));
  CHECK_THAT(sentence_of(verdict),
             Contains("cannot tell: ") && Contains("more runs of each would decide") && Contains("node-hours"));
}

TEST_CASE("two samples that differ by less than the margin are equivalent")
{
  const auto verdict = by_throughput({100, 100.1, 99.9}, {100.2, 100.1, 100}, 0.02);
  CHECK(verdict.comparison.verdict == Verdict::equivalent);
  CHECK_THAT(sentence_of(verdict), Contains("equivalent") && Contains("margin of 2 %"));
}

TEST_CASE("below three runs there is no interval, but the smallest difference that could be resolved")
{
  const auto two = by_throughput({100, 102}, {110, 112});
  CHECK(std::isnan(two.comparison.interval.low));
  CHECK(two.resolvable > 0);
  CHECK(two.more.per_side >= 1);
  CHECK_THAT(sentence_of(two),
             Contains("fewer than 3 runs (2 of A, 2 of B)") && Contains("smallest difference") && !Contains("["));
  const auto one = by_throughput({100}, {110});
  CHECK(std::isnan(one.resolvable));
  CHECK_THAT(sentence_of(one), Contains("nothing is known about the scatter") && Contains("at least 2 more runs of each"));
}

TEST_CASE("below three runs the scatter of the study's other points tells what could be resolved")
{
  const std::vector<Candidate> others{{"x", {100, 102, 98}}, {"y", {50, 51, 49}}};
  const auto scatter = pooled_scatter(others, Scale::ratio);
  CHECK(scatter.freedom == 4);
  const auto a = sample_of("A", runs_of({100}), Metric::throughput), b = sample_of("B", runs_of({110}), Metric::throughput);
  CHECK(judge("point", Metric::throughput, a, b, {}, scatter).resolvable ==
        Approx(resolvable_difference(scatter.cv, 4, 1, 1, 0.95)));
}

TEST_CASE("a run that missed its target counts as the slowest, not as missing")
{
  const auto verdict = by_time({1, 2, 3, 4}, {5, 6, miss, miss});
  CHECK(verdict.comparison.method == Method::ranks);
  CHECK(verdict.comparison.verdict == Verdict::faster);
  CHECK_THAT(sentence_of(verdict), Contains("A is faster to the target") && Contains("B: 2 of 4 runs reached the target"));
  CHECK(is_regression(by_time({5, 6, miss, miss}, {1, 2, 3, 4})));
  CHECK_FALSE(is_regression(verdict));
}

TEST_CASE("three against three times with a miss cannot decide, and the sentence says how many would")
{
  const auto verdict = by_time({1, 2, 3}, {4, 5, miss});
  CHECK(verdict.comparison.verdict == Verdict::cannot_tell);
  CHECK(verdict.more.per_side == 1);
  CHECK_THAT(sentence_of(verdict), Contains("so few runs cannot decide") && Contains("about 1 more run of each would decide"));
}

TEST_CASE("a target that nobody reached decides nothing, and is named")
{
  const auto verdict = by_time({miss, miss, miss}, {miss, miss, miss});
  CHECK(verdict.comparison.verdict == Verdict::cannot_tell);
  CHECK_FALSE(is_regression(verdict));
  CHECK_THAT(sentence_of(verdict), Contains("no run reached the target") && Contains("0 of 3 runs"));
}

TEST_CASE("a sample without runs is no verdict, and never a regression")
{
  auto failed = runs_of({100, 100, 100});
  for (auto& run : failed) run.succeeded = false;
  const auto verdict = judged(failed, runs_of({100, 101, 99}), Metric::throughput);
  CHECK(verdict.comparison.verdict == Verdict::cannot_tell);
  CHECK_FALSE(is_regression(verdict));
  CHECK(sentence_of(verdict) == "no data: no run of A has succeeded");
  auto unmeasured = runs_of({0, 0, 0});
  CHECK(sentence_of(judged(unmeasured, runs_of({1}), Metric::throughput)) == "no data: no run of A has a value of throughput");
}

TEST_CASE("a regression needs the whole interval beyond the margin")
{
  CHECK(is_regression(by_throughput({89, 90, 91}, {99, 100, 101}, 0.02)));
  CHECK_FALSE(is_regression(by_throughput({89, 90, 91}, {99, 100, 101}, 0.1)));
  CHECK(by_throughput({89, 90, 91}, {99, 100, 101}, 0.1).comparison.verdict == Verdict::slower);
  CHECK_FALSE(is_regression(by_throughput({70, 90, 110}, {99, 100, 101}, 0.02)));
}

TEST_CASE("accuracies are better or worse, and their differences are percentage points")
{
  const auto verdict = judged(runs_of({930, 931, 929}), runs_of({900, 901, 899}), Metric::accuracy);
  CHECK(word_of(verdict.comparison.verdict, verdict.metric) == "better");
  CHECK_THAT(sentence_of(verdict), StartsWith("A is better than B: +3.00 points [+2."));
}

TEST_CASE("runs of a ladder are compared within their blocks, where a drift of the machine cancels out")
{
  auto a = runs_of({100, 80, 60, 40}), b = runs_of({105, 84, 63.1, 42});
  CHECK(judged(a, b, Metric::throughput).comparison.verdict == Verdict::cannot_tell);
  for (std::size_t i = 0; i < 4; ++i) a[i].block = b[i].block = "17 " + std::to_string(i);
  const auto verdict = judged(a, b, Metric::throughput);
  CHECK(verdict.comparison.design == Design::paired);
  CHECK(verdict.comparison.verdict == Verdict::slower);
  b[0].block = b[1].block = "other";
  CHECK(judged(a, b, Metric::throughput).comparison.method == Method::ratio);
}

TEST_CASE("the best candidate is named with its lead, and a close one may be the best, too")
{
  const auto clear = ranked({runs_of({100, 101, 99}, "slow"), runs_of({110, 111, 109}, "fast")}, Metric::throughput);
  CHECK_THAT(sentence_of(clear),
             StartsWith("fast is the best of 2 by throughput at 2 ranks: +10.0 % [+7.") && Contains("against slow"));
  const auto close = ranked({runs_of({100, 104, 96}, "one"), runs_of({101, 97, 103}, "two")}, Metric::throughput);
  CHECK_THAT(sentence_of(close), StartsWith("Undecided between 2 of 2 by throughput at 2 ranks"));
  CHECK(may_be_best(close).size() == 2);
}

TEST_CASE("an undecided ranking says that an interval without zero is that of one pair")
{
  // Welch's t of the outer two has p = 0.03, of which six pairs make 0.18.
  const auto four = ranked({runs_of({100, 101.5, 98.5}, "a"), runs_of({101, 102.8, 99.6}, "b"), runs_of({102, 100.3, 103.4}, "c"),
                            runs_of({103.9, 102.4, 105.7}, "d")},
                           Metric::throughput);
  REQUIRE(may_be_best(four).size() == 4);
  CHECK_THAT(sentence_of(four), Contains("an interval is that of one pair alone, and p is corrected for all 6 pairs"));
  const auto alike = ranked({runs_of({100, 104, 96}, "one"), runs_of({101, 97, 103}, "two")}, Metric::throughput);
  CHECK_THAT(sentence_of(alike), !Contains("one pair alone"));
}

TEST_CASE("a ranking with fewer than three runs says what could be resolved")
{
  const auto pair = ranked({runs_of({100, 101}, "slow"), runs_of({110, 111}, "fast")}, Metric::throughput);
  CHECK_THAT(sentence_of(pair),
             StartsWith("Undecided by throughput at 2 ranks: no candidate has 3 runs") && Contains("smallest difference"));
  const auto one = ranked({runs_of({100, 101, 99}, "x"), runs_of({110}, "y")}, Metric::throughput);
  CHECK_THAT(sentence_of(one), Contains(": only one candidate has 3 runs"));
  const auto mixed =
      ranked({runs_of({100, 101, 99}, "x"), runs_of({110, 111, 109}, "y"), runs_of({500}, "lucky")}, Metric::throughput);
  CHECK_THAT(sentence_of(mixed), Contains("with fewer than 3 runs nothing can be said about lucky"));
}

TEST_CASE("the best of a ranking is not named without its runs that have not succeeded")
{
  auto lucky = runs_of({110, 111, 109, 0, 0, 0}, "lucky");
  for (std::size_t i = 3; i < lucky.size(); ++i) lucky[i].succeeded = false;
  auto slow = runs_of({100, 101, 99, 0}, "slow");
  slow.back().succeeded = false; // behind, so it matters no more
  const auto failed = sentence_of(ranked({slow, lucky}, Metric::throughput));
  CHECK_THAT(failed, StartsWith("lucky is the best of 2") && Contains("; only 3 of 6 runs with lucky have succeeded"));
  CHECK_THAT(failed, !Contains("with slow"));
  CHECK_THAT(sentence_of(ranked({runs_of({100, 101, 99}, "slow"), runs_of({110, 111, 109}, "fast")}, Metric::throughput)),
             !Contains("have succeeded"));
}

TEST_CASE("equal repeats are said to be equal, and could not resolve 0 %")
{
  const auto equal = sentence_of(ranked({runs_of({10, 10}, "a"), runs_of({10, 10}, "b")}, Metric::throughput));
  CHECK_THAT(equal, Contains("all repeats are equal, as figures that are rounded or constant") && !Contains("0 %"));
}

TEST_CASE("a ranking by time to target excludes what misses it, and names what missed")
{
  const auto standing =
      ranked({timed_runs({1, 2, 3, 4, 5}, "sure"), timed_runs({6, 7, miss, miss, miss}, "rare")}, Metric::time_to_target);
  CHECK(standing.ranked[0].name == "sure");
  CHECK(standing.ranked[1].excluded_by == "sure");
  CHECK_THAT(sentence_of(standing), Contains("sure is the best of 2") && Contains("2 of 5 runs reached the target with rare"));
  const auto none = ranked({timed_runs({miss, miss, miss}, "x"), timed_runs({miss, miss, miss}, "y")}, Metric::time_to_target);
  CHECK_THAT(sentence_of(none), StartsWith("No run reached the target at 2 ranks, so no candidate is the best"));
}

namespace {

// A ranking of candidates by throughput and by time to target.
std::vector<Standing> both(const std::vector<std::vector<Run>>& candidates)
{
  return {ranked(candidates, Metric::throughput), ranked(candidates, Metric::time_to_target)};
}

std::vector<Run> timed(const Values& times, const std::string& series, double throughput)
{
  auto runs = timed_runs(times, series);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].throughput = throughput + static_cast<double>(i % 3);
  return runs;
}

} // namespace

TEST_CASE("a verdict is a headline that begins with what decides, and at most one line for each candidate")
{
  const std::vector<std::string> facts{"the machine was busy in 49 of 60 runs, so repeat when it is idle"};
  const auto open = verdict_text(both({timed({10, 12, 14, 11, 13}, "one", 100), timed({11, 13, 15, 10, 12}, "two", 100),
                                       timed({12, 10, 13, 14, miss}, "three", 100), timed({miss, 9, miss, 15, 16}, "four", 100),
                                       timed({miss, 12, 11, 16, 13}, "five", 100), timed({12, 11, 13, miss, 14}, "six", 100)}),
                                 facts);
  CHECK(open.headline == "Undecided between 6 of 6 by time to target and by throughput at 2 ranks");
  REQUIRE(open.remarks.size() == 2);
  CHECK_THAT(open.remarks[0], StartsWith("5 of 5 runs reached the target only with "));
  CHECK(open.remarks[1] == facts[0]);
  CHECK_THAT(sentence_of(open), StartsWith(open.headline + "; 5 of 5 runs") && EndsWith("; " + facts[0]));
  CHECK(open.lines.size() < 6);
  for (const auto& line : open.lines) CHECK_THAT(line, Contains(" against "));
  const auto sentences = sentences_of(open);
  REQUIRE(sentences.size() == 1 + open.lines.size() + open.remarks.size());
  CHECK(sentences.front() == open.headline);
  CHECK(sentences.back() == facts[0]);
  CHECK(sentences_of(VerdictText{}).empty());
}

TEST_CASE("a verdict that is clear by both metrics names the best once, and one that is not says what the other metric says")
{
  const auto clear = verdict_text(both({timed({1, 1.1, 1.05}, "fast", 200), timed({3, 3.1, 3.05}, "slow", 100)}), {});
  CHECK_THAT(sentence_of(clear),
             StartsWith("fast is the best of 2 by time to target at 2 ranks: ") && Contains("; by throughput too: "));
  CHECK(clear.lines.empty());
  const auto split = verdict_text(both({timed({1, 1.1, 1.05}, "sure", 100), timed({3, 3.1, 3.05}, "quick", 200)}), {});
  CHECK_THAT(sentence_of(split),
             StartsWith("sure is the best of 2 by time to target") && Contains("; quick is the best of 2 by throughput: "));
}

TEST_CASE("a verdict without enough runs says so once, not for each metric")
{
  const auto few = verdict_text(both({timed({1, 1.1}, "one", 200), timed({3, 3.1}, "two", 100)}), {});
  CHECK_THAT(few.headline, StartsWith("Undecided by time to target at 2 ranks: no candidate has 3 runs"));
  CHECK(sentence_of(few).find("throughput") == std::string::npos);
}

namespace {

Run measured(std::int64_t ranks, double throughput)
{
  Run run;
  run.nodes = 1;
  run.ranks = run.workers = ranks;
  run.succeeded = true;
  run.throughput = throughput;
  return run;
}

// Headline and lines, one a line.
std::string text_of(const VerdictText& statement)
{
  auto text = sentence_of(statement);
  for (const auto& line : statement.lines) text += "\n" + line;
  return text;
}

std::string scaling_text(const std::vector<Run>& runs, StudySizes sizes = StudySizes::grow)
{
  return text_of(scaling_verdict(scaling_of(runs, sizes), {}));
}

std::string scaling_text_of(const std::vector<std::pair<std::int64_t, Values>>& sizes)
{
  std::vector<Run> runs;
  for (const auto& [ranks, values] : sizes)
    for (const double value : values) runs.push_back(measured(ranks, value));
  return scaling_text(runs);
}

} // namespace

TEST_CASE("a scaling study says first for its largest size, and then in a line for each other one, whether its efficiency "
          "differs from 100 % and from that of the smaller size")
{
  const auto text = scaling_text_of({{1, {100, 101, 99}}, {2, {190, 191, 189}}, {4, {300, 301, 299}}});
  CHECK_THAT(text, StartsWith("4 ranks: 3.00x, efficiency 75.0 % ["));
  CHECK_THAT(text, Contains("], below 100 % and below that at 2 ranks\n2 ranks: 1.90x, efficiency 95.0 % ["));
  CHECK_THAT(scaling_text_of({{1, {100, 110, 90}}, {2, {190, 210, 180}}}), Contains("not measurably different from 100 %"));
}

TEST_CASE("whether a program scales at all is one answer: the best size, and the largest if that is another one")
{
  const auto answer_of = [](const std::vector<std::pair<std::int64_t, Values>>& sizes) {
    std::vector<Run> runs;
    for (const auto& [ranks, values] : sizes)
      for (const double value : values) runs.push_back(measured(ranks, value));
    const auto points = scaling_of(runs, StudySizes::grow);
    return scale_answer(points).text;
  };
  CHECK(answer_of({{1, {100, 101, 99}}, {2, {190, 191, 189}}}) == "yes: 1.90x on 2 ranks");
  CHECK(answer_of({{1, {100, 101, 99}}, {2, {190, 191, 189}}, {4, {150, 151, 149}}}) ==
        "yes: 1.90x on 2 ranks; 1.50x on 4 ranks");
  CHECK(answer_of({{1, {100, 101, 99}}, {2, {80, 81, 79}}}) == "no: 0.80x on 2 ranks");
  CHECK(answer_of({{1, {100, 120, 80}}, {2, {104, 124, 84}}}) ==
        "cannot tell: 1.04x on 2 ranks, not measurably faster than the smallest size");
  CHECK(answer_of({{1, {100}}, {2, {190}}}) ==
        "cannot tell: 1.90x on 2 ranks, and without 3 runs of both sizes there is no interval");
  CHECK(answer_of({{1, {100}}}) == "not known: no two sizes were measured");
}

TEST_CASE("ranks that do not train together are the headline, whatever the other sizes say, and have no figures")
{
  std::vector<Run> runs;
  for (const double value : {99.0, 100.0, 101.0}) runs.push_back(measured(1, value));
  runs.push_back(measured(2, std::nan("")));
  runs.back().copies = "the 2 ranks are 2 copies";
  const auto points = scaling_of(runs, StudySizes::grow);
  CHECK(points.back().copies == 1);
  CHECK(std::isnan(points.back().speedup));
  CHECK(scaling_verdict(points, {}).headline == "It does not scale: the 2 ranks are 2 copies");
  CHECK(scale_answer(points).text == "no: 2 ranks of it do not train together");
}

TEST_CASE("a partition study says how fast more parts are together")
{
  std::vector<Run> runs;
  for (const auto& [parts, throughput] : {std::pair{1, 100.0}, std::pair{2, 130.0}, std::pair{4, 80.0}, std::pair{8, 100.0}})
    for (const double scatter : {0.99, 1.0, 1.01}) runs.push_back(measured(parts, throughput * scatter));
  const auto text = scaling_text(runs, StudySizes::parts);
  CHECK_THAT(text, StartsWith("8 parts: 1.00x the throughput of 1 part [") && Contains("], not measurably different\n"));
  CHECK_THAT(text, Contains("\n2 parts: 1.30x") && Contains("], faster\n4 parts: 0.80x") && EndsWith("], slower"));
  CHECK_THAT(scaling_text({runs.begin(), runs.begin() + 3}, StudySizes::parts), Contains("(1 part)"));
}

TEST_CASE("simulated sizes need no repeats")
{
  std::vector<Run> runs{measured(1, 100), measured(2, 190)};
  for (auto& run : runs) run.is_exact = true;
  CHECK_THAT(scaling_text(runs), Contains("efficiency 95.0 %; the times are simulated and lack a machine's scatter"));
}

TEST_CASE("a measured label that begins with `simulated` is measured")
{
  std::vector<Run> runs{measured(1, 100), measured(2, 190)};
  for (auto& run : runs) run.series = "simulated=1";
  CHECK_THAT(scaling_text(runs), !Contains("simulated") && Contains("nothing is known about the scatter"));
}

TEST_CASE("an efficiency is not called below or above 100 % if its interval is printed as 100.0")
{
  const auto text = scaling_text_of({{1, {100000, 100001, 99999}}, {2, {199990, 199992, 199988}}});
  CHECK_THAT(text, Contains("efficiency 100.0 % [100.0, 100.0], not measurably different from 100 %"));
  const auto above = scaling_text_of({{1, {100000, 100001, 99999}}, {2, {200010, 200012, 200008}}});
  CHECK_THAT(above, Contains("efficiency 100.0 % [100.0, 100.0], not measurably different from 100 %"));
  const auto below = scaling_text_of({{1, {100000, 100001, 99999}}, {2, {199700, 199702, 199698}}});
  CHECK_THAT(below, Contains("efficiency 99.8 % [99.8, 99.9], below 100 %") || Contains("[99.8, 99.8], below 100 %"));
  const auto equal = scaling_text_of({{1, {100, 101, 99}}, {2, {190000, 190001, 189999}}, {4, {379990, 379992, 379988}}});
  CHECK_THAT(equal, Contains("and not measurably different from that at 2 ranks"));
}

TEST_CASE("parts are not called faster or slower if their ratio is printed as 1.00")
{
  std::vector<Run> runs;
  for (const auto& [parts, throughput] : {std::pair{1, 100.0}, std::pair{2, 100.1}})
    for (const double scatter : {0.9999, 1.0, 1.0001}) runs.push_back(measured(parts, throughput * scatter));
  CHECK_THAT(scaling_text(runs, StudySizes::parts),
             Contains("1.00x the throughput of 1 part [1.00, 1.00], not measurably different"));
}

TEST_CASE("a scaling study that does not begin at 1 says what its speed-up is relative to")
{
  const auto text = scaling_text_of({{2, {100, 101, 99}}, {4, {190, 191, 189}}});
  CHECK_THAT(text, StartsWith("4 ranks: 1.90x that of 2 ranks, efficiency 95.0 % ["));
}

TEST_CASE("a scaling study that is a ladder compares a size with the next smaller one in pairs")
{
  std::vector<Run> runs;
  for (int block = 0; block < 3; ++block)
    for (const auto& [ranks, ideal] : {std::pair{1, 100.0}, std::pair{2, 190.0}, std::pair{4, 360.0}}) {
      const double drift = 1 - 0.2 * block, scatter = 1 + 0.001 * (ranks * block % 2);
      runs.push_back(measured(ranks, ideal * drift * scatter));
    }
  CHECK_THAT(scaling_text(runs), Contains("not measurably different from that at 2 ranks"));
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].block = "17 " + std::to_string(i / 3);
  CHECK_THAT(scaling_text(runs), StartsWith("4 ranks") && Contains("below 100 % and below that at 2 ranks"));
}

TEST_CASE("a scaling study says what is missing with one size or with too few runs")
{
  CHECK_THAT(scaling_text_of({{2, {100, 101, 99}}}), Contains("Only one size was measured (2 ranks)"));
  CHECK_THAT(
      scaling_text_of({{1, {100, 101}}, {2, {160, 161}}}),
      Contains("efficiency 79.9 %; with fewer than 3 runs of a size its efficiency has no interval, but the smallest difference "
               "from 100 % that these runs could resolve is 2.5 %, and that of 2 ranks is larger"));
  CHECK_THAT(scaling_text_of({{1, {100, 120}}, {2, {190, 230}}}),
             Contains("do not show whether its efficiency differs from 100 %"));
  CHECK_THAT(scaling_text_of({{1, {100, 101}}, {2, {190, 191}}}), Contains("2 ranks: 1.90x, efficiency 94.8 %") &&
                                                                      Contains("with fewer than 3 runs") &&
                                                                      Contains("smallest difference"));
  CHECK_THAT(scaling_text_of({{1, {100}}, {2, {190}}}), Contains("nothing is known about the scatter"));
}
