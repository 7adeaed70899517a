#include "jobs/program/reports/exchange.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

RankReport rank(int number, std::optional<Exchange> exchange, const std::vector<double>& losses)
{
  RankReport report;
  report.start.rank = number;
  report.exchange = exchange;
  for (std::size_t i = 0; i < losses.size(); ++i)
    report.steps.push_back({.step = static_cast<std::int64_t>(i) + 1, .loss = losses[i], .learning_rate = {}, .phase_s = {}});
  for (auto& step : report.steps) step.phase_s.fill(not_measured);
  return report;
}

const std::vector<double> falling{3, 2, 1.5}, other{3, 2, 1.25};

std::vector<RankReport> two(std::optional<Exchange> exchange, const std::vector<double>& second = falling)
{
  return {rank(0, exchange, falling), rank(1, exchange, second)};
}

std::string sentence(const std::vector<RankReport>& reports) { return doubt_of_exchange(reports).sentence; }
std::string kind(const std::vector<RankReport>& reports) { return doubt_of_exchange(reports).kind; }

} // namespace

TEST_CASE("ranks that exchange nothing are copies of one training if their losses are equal, else trainings of their own")
{
  CHECK(kind(two(Exchange::none)) == "copies");
  CHECK_THAT(
      sentence(two(Exchange::none)),
      Catch::StartsWith("the 2 ranks are 2 copies of one training: they exchange nothing, and their losses are equal in all 3 "
                        "steps, so the samples of the ranks do not add up"));
  CHECK(kind(two(Exchange::none, other)) == "copies");
  CHECK_THAT(sentence(two(Exchange::none, other)), Catch::Contains("they are 2 trainings of their own"));
}

TEST_CASE("what is said of ranks whose losses are equal, or not, follows from what they are seen to exchange")
{
  CHECK(kind(two(Exchange::idle)) == "copies"); // a process group by which nothing is summed
  CHECK_THAT(sentence(two(Exchange::idle)), Catch::Contains("2 copies of one training: they exchange no gradients"));
  CHECK(kind(two(Exchange::gradients)) == "copies");
  CHECK_THAT(sentence(two(Exchange::gradients)), Catch::StartsWith("the 2 ranks train with the same batches: "));
  for (const auto one : {Exchange::idle, Exchange::gradients, Exchange::unknown}) CHECK(kind(two(one, other)).empty());
  CHECK(kind(two(Exchange::some)).empty()); // something else than gradients proves nothing
  auto reports = two(Exchange::none);
  for (auto& report : reports) report.steps.back().phase_s[static_cast<std::size_t>(Phase::communication)] = 0.001;
  CHECK(kind(reports).empty());
  // Where it is not seen, equal losses are a doubt and no verdict.
  CHECK(kind(two(std::nullopt)) == "exchange");
  CHECK(kind(two(Exchange::unknown)) == "exchange");
  CHECK(kind({rank(0, Exchange::none, falling), rank(1, Exchange::unknown, other)}).empty());
  // Rank 0 alone tells it, also if the others report no steps.
  CHECK(kind({rank(0, Exchange::none, falling), rank(1, {}, {})}) == "copies");
  CHECK(kind({rank(0, Exchange::some, falling), rank(1, {}, {})}).empty());
}

TEST_CASE("too few, constant or unknown losses are not called equal, and one rank and ranks of dtctl_sync are not doubted")
{
  for (const std::vector<double>& losses : {std::vector<double>{3, 2}, {1, 1, 1}, {NAN, NAN, NAN}, {}})
    CHECK(kind({rank(0, {}, losses), rank(1, {}, losses)}).empty());
  CHECK(kind({rank(0, {}, falling), rank(1, {}, {3, 2, 1.5, 1})}).empty());
  CHECK(kind({rank(0, Exchange::none, falling)}).empty());
  auto reports = two(Exchange::none);
  reports.front().sync = SyncLine{};
  CHECK(kind(reports).empty());
}
