#include "jobs/program/exchange.hpp"

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
  const auto remedy =
      " so the samples of the ranks do not add up, and there is no throughput, speed-up or efficiency. Train with "
      "the two lines of dtctl_sync or with DistributedDataParallel, or set ranks: 1";
  CHECK(kind(two(Exchange::none)) == "copies");
  CHECK(sentence(two(Exchange::none)) ==
        "the 2 ranks are 2 copies of one training: they exchange nothing, and their losses are equal in all 3 steps," +
            std::string(remedy));
  CHECK(kind(two(Exchange::none, other)) == "copies");
  CHECK(sentence(two(Exchange::none, other)) ==
        "the 2 ranks exchange nothing: they are 2 trainings of their own," + std::string(remedy));
}

TEST_CASE("a process group by which nothing is summed does not make one training of equal losses")
{
  CHECK_THAT(sentence(two(Exchange::idle)), Catch::Contains("2 copies of one training: they exchange no gradients"));
  CHECK(kind(two(Exchange::idle, other)).empty());
}

TEST_CASE("ranks that sum gradients and have equal losses train with the same batches")
{
  CHECK(kind(two(Exchange::gradients)) == "copies");
  CHECK_THAT(sentence(two(Exchange::gradients)), Catch::StartsWith("the 2 ranks train with the same batches: ") &&
                                                     Catch::EndsWith("with DistributedSampler for example"));
  CHECK(kind(two(Exchange::gradients, other)).empty());
}

TEST_CASE("equal losses of ranks that exchange something else prove nothing")
{
  CHECK(kind(two(Exchange::some)).empty());
  auto reports = two(Exchange::none);
  for (auto& report : reports) report.steps.back().phase_s[static_cast<std::size_t>(Phase::communication)] = 0.001;
  CHECK(kind(reports).empty());
}

TEST_CASE("where it is not seen whether ranks exchange anything, equal losses are a doubt and no verdict")
{
  CHECK(kind(two(std::nullopt)) == "exchange");
  CHECK(kind(two(Exchange::unknown)) == "exchange");
  CHECK(kind(two(Exchange::unknown, other)).empty());
  CHECK(kind({rank(0, Exchange::none, falling), rank(1, Exchange::unknown, other)}).empty());
}

TEST_CASE("too few, constant or unknown losses are not called equal")
{
  CHECK(kind({rank(0, {}, {3, 2}), rank(1, {}, {3, 2})}).empty());
  CHECK(kind({rank(0, {}, {1, 1, 1}), rank(1, {}, {1, 1, 1})}).empty());
  CHECK(kind({rank(0, {}, {NAN, NAN, NAN}), rank(1, {}, {NAN, NAN, NAN})}).empty());
  CHECK(kind({rank(0, {}, falling), rank(1, {}, {3, 2, 1.5, 1})}).empty());
}

TEST_CASE("rank 0 alone tells that it exchanges nothing, also if the others report no steps")
{
  CHECK_THAT(sentence({rank(0, Exchange::none, falling), rank(1, {}, {})}), Catch::StartsWith("the 2 ranks exchange nothing: "));
  CHECK(kind({rank(0, Exchange::some, falling), rank(1, {}, {})}).empty());
}

TEST_CASE("one rank, ranks that report nothing and ranks of dtctl_sync are not doubted")
{
  CHECK(kind({rank(0, Exchange::none, falling)}).empty());
  CHECK(kind({rank(0, {}, {}), rank(1, {}, {})}).empty());
  auto reports = two(Exchange::none);
  reports.front().sync = SyncLine{};
  CHECK(kind(reports).empty());
}
