#include "store/analysis/verdict/scaling_answer.hpp"
#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;
using namespace dt::store::test;

TEST_CASE("whether a program scales at all is one answer: the best size, and the largest")
{
  auto points = sizes_of({{1, {100, 101, 99}}, {2, {190, 191, 189}}, {4, {150, 151, 149}}});
  const auto yes = scale_answer(points);
  CHECK(yes.answer == Scales::yes);
  CHECK(yes.best->ranks == 2);
  CHECK(yes.largest->ranks == 4);
  const auto answer_of = [&](const std::vector<std::pair<std::int64_t, Values>>& sizes) {
    points = sizes_of(sizes);
    return scale_answer(points).answer;
  };
  CHECK(answer_of({{1, {100, 101, 99}}, {2, {80, 81, 79}}}) == Scales::no);
  CHECK(answer_of({{1, {100, 120, 80}}, {2, {104, 124, 84}}}) == Scales::cannot_tell);
  CHECK(scale_answer(points).is_within_error);
  CHECK(answer_of({{1, {100}}, {2, {190}}}) == Scales::cannot_tell);
  CHECK_FALSE(scale_answer(points).is_within_error);
  CHECK(answer_of({{1, {100}}}) == Scales::not_known);
}

TEST_CASE("ranks that do not train together do not scale, whatever the other sizes say, and have no figures")
{
  std::vector<Run> runs;
  for (const double value : {99.0, 100.0, 101.0}) runs.push_back(measured(1, value));
  runs.push_back(measured(2, std::nan("")));
  runs.back().copies = "the 2 ranks are 2 copies";
  const auto points = scaling_of(runs, StudySizes::grow);
  CHECK(points.back().copies == 1);
  CHECK(std::isnan(points.back().speedup));
  CHECK(scale_answer(points).answer == Scales::no);
  CHECK(scale_answer(points).copies == &points.back());
}

TEST_CASE("an efficiency is below or above 100 % unless its interval is printed as 100.0")
{
  const auto side_of = [](const Values& values) {
    return against_ideal(sizes_of({{1, {100000, 100001, 99999}}, {2, values}})[1]);
  };
  CHECK(side_of({199990, 199992, 199988}) == Side::alike);
  CHECK(side_of({200010, 200012, 200008}) == Side::alike);
  CHECK(side_of({199700, 199702, 199698}) == Side::below);
  CHECK(side_of({200300, 200302, 200298}) == Side::above);
  CHECK(side_of({199700}) == Side::unknown);
  const auto equal = sizes_of({{1, {100, 101, 99}}, {2, {190000, 190001, 189999}}, {4, {379990, 379992, 379988}}});
  CHECK(against_point(equal, 2, 1) == Side::alike);
}

TEST_CASE("parts are not faster or slower if their ratio is printed as 1.00")
{
  std::vector<Run> runs;
  for (const auto& [parts, throughput] : {std::pair{1, 100.0}, std::pair{2, 100.1}, std::pair{4, 130.0}, std::pair{8, 80.0}})
    for (const double scatter : {0.9999, 1.0, 1.0001}) runs.push_back(measured(parts, throughput * scatter));
  const auto points = scaling_of(runs, StudySizes::parts);
  CHECK(against_ideal(points[1]) == Side::alike);
  CHECK(against_ideal(points[2]) == Side::above);
  CHECK(against_ideal(points[3]) == Side::below);
}

TEST_CASE("a scaling study that is a ladder compares a size with the next smaller one in pairs")
{
  std::vector<Run> runs;
  for (int block = 0; block < 3; ++block)
    for (const auto& [ranks, ideal] : {std::pair{1, 100.0}, std::pair{2, 190.0}, std::pair{4, 360.0}}) {
      const double drift = 1 - 0.2 * block, scatter = 1 + 0.001 * (ranks * block % 2);
      runs.push_back(measured(ranks, ideal * drift * scatter));
    }
  CHECK(against_point(scaling_of(runs, StudySizes::grow), 2, 1) == Side::alike);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].block = "17 " + std::to_string(i / 3);
  const auto points = scaling_of(runs, StudySizes::grow);
  CHECK(against_ideal(points[2]) == Side::below);
  CHECK(against_point(points, 2, 1) == Side::below);
}

TEST_CASE("with too few runs it is known what they could resolve, and which sizes differ by more")
{
  const auto points = sizes_of({{1, {100, 101}}, {2, {160, 161}}});
  const auto missing = missing_repeats(points);
  CHECK(missing.are_missing);
  CHECK(missing.resolvable == Approx(0.025).epsilon(0.05));
  REQUIRE(missing.beyond.size() == 1);
  CHECK(missing.beyond.front()->ranks == 2);
  CHECK(missing_repeats(sizes_of({{1, {100, 120}}, {2, {190, 230}}})).beyond.empty());
  CHECK(std::isnan(missing_repeats(sizes_of({{1, {100}}, {2, {190}}})).resolvable));
  CHECK_FALSE(missing_repeats(sizes_of({{1, {100, 101, 99}}, {2, {190, 191, 189}}})).are_missing);
}
