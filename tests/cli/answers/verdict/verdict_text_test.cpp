// The verdicts of rankings, races and scaling studies in words.
#include "cli/answers/verdict/verdict_text.hpp"
#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;
using namespace dt::store::test;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using store::Run;

namespace {

std::string ranking_text(const std::vector<std::vector<Run>>& candidates, Metric metric = Metric::throughput)
{
  return sentence_of(verdict_text(ranked(candidates, metric)));
}

// By throughput and by time to target.
VerdictText text_by_both(const std::vector<std::vector<Run>>& candidates, const std::vector<std::string>& facts = {})
{
  return verdict_text(ranked(candidates, {Metric::throughput, Metric::time_to_target}), facts);
}

} // namespace

TEST_CASE("the best candidate is named with its lead, and a close one may be the best, too")
{
  CHECK_THAT(ranking_text({runs_of({100, 101, 99}, "slow"), runs_of({110, 111, 109}, "fast")}),
             StartsWith("fast is the best of 2 by throughput at 2 ranks: +10.0 % [+7.") && Contains("against slow"));
  const auto close = ranking_text({runs_of({100, 104, 96}, "one"), runs_of({101, 97, 103}, "two")});
  CHECK_THAT(close, StartsWith("Undecided between 2 of 2 by throughput at 2 ranks") && !Contains("one pair alone"));
  CHECK_THAT(ranking_text({runs_of({100, 101.5, 98.5}, "a"), runs_of({101, 102.8, 99.6}, "b"), runs_of({102, 100.3, 103.4}, "c"),
                           runs_of({103.9, 102.4, 105.7}, "d")}),
             Contains("an interval is that of one pair alone, and p is corrected for all 6 pairs"));
}

TEST_CASE("a ranking with fewer than three runs says what could be resolved")
{
  CHECK_THAT(ranking_text({runs_of({100, 101}, "slow"), runs_of({110, 111}, "fast")}),
             StartsWith("Undecided by throughput at 2 ranks: no candidate has 3 runs") && Contains("smallest difference"));
  CHECK_THAT(ranking_text({runs_of({100, 101, 99}, "x"), runs_of({110}, "y")}), Contains(": only one candidate has 3 runs"));
  CHECK_THAT(ranking_text({runs_of({100, 101, 99}, "x"), runs_of({110, 111, 109}, "y"), runs_of({500}, "lucky")}),
             Contains("with fewer than 3 runs nothing can be said about lucky"));
  CHECK_THAT(ranking_text({runs_of({10, 10}, "a"), runs_of({10, 10}, "b")}),
             Contains("all repeats are equal, as figures that are rounded or constant") && !Contains("0 %"));
}

TEST_CASE("the best of a ranking is not named without its runs that have not succeeded")
{
  auto lucky = runs_of({110, 111, 109, 0, 0, 0}, "lucky");
  for (std::size_t i = 3; i < lucky.size(); ++i) lucky[i].succeeded = false;
  auto slow = runs_of({100, 101, 99, 0}, "slow");
  slow.back().succeeded = false; // behind, so it matters no more
  CHECK_THAT(ranking_text({slow, lucky}), StartsWith("lucky is the best of 2") &&
                                              Contains("; only 3 of 6 runs with lucky have succeeded") && !Contains("with slow"));
  CHECK_THAT(ranking_text({runs_of({100, 101, 99}, "slow"), runs_of({110, 111, 109}, "fast")}), !Contains("have succeeded"));
}

TEST_CASE("a ranking by time to target names what missed it, and one of trainings with one seed says so")
{
  const auto metric = Metric::time_to_target;
  CHECK_THAT(ranking_text({timed_runs({1, 2, 3, 4, 5}, "sure"), timed_runs({6, 7, miss, miss, miss}, "rare")}, metric),
             Contains("sure is the best of 2") && Contains("2 of 5 runs reached the target with rare"));
  CHECK_THAT(ranking_text({timed_runs({miss, miss, miss}, "x"), timed_runs({miss, miss, miss}, "y")}, metric),
             StartsWith("No run reached the target at 2 ranks, so no candidate is the best"));
  const std::vector one{with_one_seed(timed_runs({10, 10.1, 9.9}, "a", 200)), with_one_seed(timed_runs({20, 20.1, 19.9}, "b"))};
  CHECK_THAT(ranking_text(one, metric), StartsWith("Undecided by time to target at 2 ranks: for this one seed a is ahead, ") &&
                                            Contains("study.vary_seed: true"));
  CHECK_THAT(sentence_of(text_by_both(one)),
             Contains("for this one seed a is ahead") && Contains("a is the best of 2 by throughput"));
}

TEST_CASE("candidates that were measured one after the other are undecided, and the verdict says what to do")
{
  auto early = runs_of({100, 101, 99, 100}, "early"), late = runs_of({110, 111, 109, 110}, "late");
  for (std::size_t i = 0; i < early.size(); ++i) {
    early[i].begin_unix_s = 1e9 + static_cast<double>(i);
    late[i].begin_unix_s = 1e9 + 1000 + static_cast<double>(i);
  }
  CHECK_THAT(ranking_text({early, late}), StartsWith("Undecided between 2 of 2 by throughput at 2 ranks") &&
                                              Contains("late and early were measured one after the other") &&
                                              Contains("study.order: random"));
}

TEST_CASE("a verdict is a headline that begins with what decides, and at most one line for each candidate")
{
  const std::vector<std::string> facts{"the machine was busy in 49 of 60 runs, so repeat when it is idle"};
  const auto open =
      text_by_both({timed_runs({10, 12, 14, 11, 13}, "one", 100), timed_runs({11, 13, 15, 10, 12}, "two", 100),
                    timed_runs({12, 10, 13, 14, miss}, "three", 100), timed_runs({miss, 9, miss, 15, 16}, "four", 100),
                    timed_runs({miss, 12, 11, 16, 13}, "five", 100), timed_runs({12, 11, 13, miss, 14}, "six", 100)},
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
  const auto clear = text_by_both({timed_runs({1, 1.1, 1.05}, "fast", 200), timed_runs({3, 3.1, 3.05}, "slow", 100)});
  CHECK_THAT(sentence_of(clear),
             StartsWith("fast is the best of 2 by time to target at 2 ranks: ") && Contains("; by throughput too: "));
  CHECK(clear.lines.empty());
  const auto split = text_by_both({timed_runs({1, 1.1, 1.05}, "sure", 100), timed_runs({3, 3.1, 3.05}, "quick", 200)});
  CHECK_THAT(sentence_of(split),
             StartsWith("sure is the best of 2 by time to target") && Contains("; quick is the best of 2 by throughput: "));
  const auto few = text_by_both({timed_runs({1, 1.1}, "one", 200), timed_runs({3, 3.1}, "two", 100)});
  CHECK_THAT(sentence_of(few), StartsWith("Undecided by time to target") && !Contains("throughput")); // once, not for each metric
}

namespace {

// Headline and remarks, and the lines below.
std::string scaling_text(const std::vector<store::ScalingRow>& points)
{
  const auto verdict = scaling_verdict(points, {});
  auto text = sentence_of(verdict);
  for (const auto& line : verdict.lines) text += "\n" + line;
  return text;
}

std::string scaling_text(const std::vector<std::pair<std::int64_t, Values>>& sizes) { return scaling_text(sizes_of(sizes)); }

} // namespace

TEST_CASE("a scaling study says first for its largest size, and then in a line for each other one, whether its efficiency "
          "differs from 100 % and from that of the smaller size")
{
  const auto text = scaling_text({{1, {100, 101, 99}}, {2, {190, 191, 189}}, {4, {300, 301, 299}}});
  CHECK_THAT(text, StartsWith("4 ranks: 3.00x, efficiency 75.0 % ["));
  CHECK_THAT(text, Contains("], below 100 % and below that at 2 ranks\n2 ranks: 1.90x, efficiency 95.0 % ["));
  CHECK_THAT(scaling_text({{1, {100, 110, 90}}, {2, {190, 210, 180}}}), Contains("not measurably different from 100 %"));
  CHECK_THAT(scaling_text({{2, {100, 101, 99}}, {4, {190, 191, 189}}}),
             StartsWith("4 ranks: 1.90x that of 2 ranks, efficiency 95"));
}

TEST_CASE("whether a program scales at all is one answer: the best size, and the largest if that is another one")
{
  const auto answer_of = [](const std::vector<std::pair<std::int64_t, Values>>& sizes) {
    const auto points = sizes_of(sizes);
    return scale_text(store::scale_answer(points));
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

TEST_CASE("ranks that do not train together are the headline, whatever the other sizes say")
{
  std::vector<Run> runs;
  for (const double value : {99.0, 100.0, 101.0}) runs.push_back(measured(1, value));
  runs.push_back(measured(2, std::nan("")));
  runs.back().copies = "the 2 ranks are 2 copies";
  const auto points = store::scaling_of(runs, store::StudySizes::grow);
  CHECK(scaling_verdict(points, {}).headline == "It does not scale: the 2 ranks are 2 copies");
  CHECK(scale_text(store::scale_answer(points)) == "no: 2 ranks of it do not train together");
}

TEST_CASE("a partition study says how fast more parts are together")
{
  std::vector<Run> runs;
  for (const auto& [parts, throughput] : {std::pair{1, 100.0}, std::pair{2, 130.0}, std::pair{4, 80.0}, std::pair{8, 100.0}})
    for (const double scatter : {0.99, 1.0, 1.01}) runs.push_back(measured(parts, throughput * scatter));
  const auto text = scaling_text(store::scaling_of(runs, store::StudySizes::parts));
  CHECK_THAT(text, StartsWith("8 parts: 1.00x the throughput of 1 part [") && Contains("], not measurably different\n"));
  CHECK_THAT(text, Contains("\n2 parts: 1.30x") && Contains("], faster\n4 parts: 0.80x") && EndsWith("], slower"));
  CHECK_THAT(scaling_text(store::scaling_of({runs.begin(), runs.begin() + 3}, store::StudySizes::parts)), Contains("(1 part)"));
}

TEST_CASE("simulated sizes need no repeats, and a measured label that begins with `simulated` is measured")
{
  std::vector<Run> runs{measured(1, 100), measured(2, 190)};
  for (auto& run : runs) run.series = "simulated=1";
  CHECK_THAT(scaling_text(store::scaling_of(runs, store::StudySizes::grow)), !Contains("simulated"));
  for (auto& run : runs) run.is_exact = true;
  CHECK_THAT(scaling_text(store::scaling_of(runs, store::StudySizes::grow)), Contains("95.0 %; the times are simulated"));
}

TEST_CASE("an efficiency is not called below or above 100 % if its interval is printed as 100.0")
{
  for (const double two : {199990, 200010, 199700})
    CHECK_THAT(scaling_text({{1, {100000, 100001, 99999}}, {2, {two, two + 2, two - 2}}}),
               Contains(two == 199700 ? "], below 100 %" : "[100.0, 100.0], not measurably different from 100 %"));
  const auto equal = scaling_text({{1, {100, 101, 99}}, {2, {190000, 190001, 189999}}, {4, {379990, 379992, 379988}}});
  CHECK_THAT(equal, Contains("and not measurably different from that at 2 ranks"));
}

TEST_CASE("a scaling study says what is missing with one size or with too few runs")
{
  CHECK_THAT(scaling_text({{2, {100, 101, 99}}}), Contains("Only one size was measured (2 ranks)"));
  CHECK_THAT(scaling_text({{1, {100, 101}}, {2, {160, 161}}}),
             Contains("efficiency 79.9 %; with fewer than 3 runs of a size its efficiency has no interval") &&
                 Contains("could resolve is 2.5 %, and that of 2 ranks is larger"));
  CHECK_THAT(scaling_text({{1, {100, 120}}, {2, {190, 230}}}), Contains("do not show whether its efficiency differs from 100 %"));
  CHECK_THAT(scaling_text({{1, {100}}, {2, {190}}}), Contains("nothing is known about the scatter"));
}

namespace {

store::RacePoint point_of(std::string label, std::int64_t ranks = 2)
{
  return {.label = std::move(label), .ranks = ranks, .values = {}};
}

constexpr store::RaceStanding lost{.is_racing = false, .repeats = 3};
constexpr store::RaceStanding best{.is_racing = false, .repeats = 5, .is_best = true};
constexpr store::RaceStanding open{.is_racing = false, .repeats = 12, .is_open = true};
constexpr store::RaceStanding racing{.is_racing = true, .repeats = 7};

std::string headline(const std::vector<store::RacePoint>& points, const store::Race& race, const std::string& limit = "",
                     const std::vector<std::string>& facts = {})
{
  return sentence_of(race_verdict(points, race, {}, limit, facts));
}

} // namespace

TEST_CASE("a race that is over names what is left, and one that is not says between how many candidates it is undecided, and why")
{
  const auto over = [](std::int64_t repeats, std::vector<store::RaceStanding> standings) {
    return store::Race{.is_over = true, .repeats = repeats, .standings = std::move(standings)};
  };
  const std::vector points{point_of("a"), point_of("b"), point_of("c")};
  CHECK(headline(points, over(5, {lost, best, lost}), "", {"the machine was busy"}) ==
        "b is the best of 3 by throughput after 5 repeats; the machine was busy");
  CHECK(headline(points, over(5, {best, best, lost})) ==
        "a, b are the best of 3 by throughput and equivalent within 3 % after 5 repeats");
  CHECK(headline(points, over(12, {open, lost, open})) ==
        "Undecided between 2 of 3 by throughput after 12 repeats, the most that are allowed: a, c");
  CHECK(headline(points, over(3, {lost, lost, lost})) == "No candidate of 3 by throughput has a value after 3 repeats");
  const store::Race race{.is_over = false, .repeats = 7, .standings = {racing, racing, racing}};
  CHECK(headline(points, race, "the budget") == "Undecided between 3 of 3 by throughput, because of the budget");
  CHECK_THAT(headline(points, race), StartsWith("Undecided between 3 of 3 by throughput, so far"));
  CHECK(race_verdict(std::vector{point_of("", 1), point_of("", 2)}, over(3, {lost, lost}), {}, "", {})
            .headline.empty()); // no rivals
}

TEST_CASE("with several sizes the largest one decides, and each smaller one has a line")
{
  const std::vector points{point_of("a", 2), point_of("a", 4), point_of("b", 2), point_of("b", 4)};
  const store::Race race{.is_over = true, .repeats = 12, .standings = {best, open, lost, open}};
  const auto text = race_verdict(points, race, {.better = store::Better::smaller}, "", {});
  CHECK(text.headline == "Undecided between 2 of 2 by time to target at 4 ranks after 12 repeats, the most that are allowed");
  CHECK(text.lines == std::vector<std::string>{"a is the best of 2 by time to target at 2 ranks after 5 repeats"});
}

TEST_CASE("the conditions of the runs are parts of a sentence, each with its figures")
{
  std::vector<store::ComparedPoint> points(2);
  for (const auto* name : {"ring", "tree"}) {
    auto& point = points[name == std::string("tree") ? 1 : 0];
    point.title = name;
    point.nodes = 1, point.ranks = 2;
  }
  const auto text_of = [&](const store::ConditionFacts& facts) {
    const auto texts = condition_texts(facts, points);
    return texts.size() == 1 ? texts.front() : std::to_string(texts.size()) + " texts";
  };
  CHECK(condition_texts({.runs = 12}, points).empty());
  CHECK(text_of({.runs = 12, .outliers = {{&points[1], 2, 0.7}}}) ==
        "1 of 12 runs is an outlier in throughput and does not count: tree, 2 ranks #3 (-30 %)");
  CHECK_THAT(text_of({.runs = 40, .outliers = std::vector(5, store::OutlyingRun{&points[0], 0, 0.5})}),
             StartsWith("5 of 40 runs are outliers in throughput and do not count: ") && EndsWith(", 2 more"));
  CHECK_THAT(text_of({.trend = store::Trend{-0.104, 0.002}}),
             StartsWith("the throughput changed by -10.4 %") && Contains("p = 0.002"));
  CHECK_THAT(text_of({.trend = store::Trend{-0.104, 0.002}, .in_rounds = false}), Contains("were not measured in rounds"));
  store::TwoSpeeds speeds{.ratio = 0.9, .slow = 6, .of = 16, .point = {}};
  CHECK(text_of({.speeds = speeds}) ==
        "6 of 16 runs are 10.0 % slower than the others of their candidate, as on a machine with two speeds");
  speeds.point = 1;
  CHECK_THAT(text_of({.speeds = speeds}), EndsWith("two speeds, all of tree, 2 ranks"));
  CHECK_THAT(text_of({.rounding_unit = 1}), StartsWith("the throughputs are rounded to 1 samples/s"));
}
