#include "jobs/program/reports/printed_rates.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

// A step a line, each with the rate of the same index; 0: none.
RankReport report_of(const std::vector<double>& rates)
{
  RankReport report;
  report.is_printed = true;
  for (const double rate : rates) {
    StepLine step;
    step.step = static_cast<std::int64_t>(report.steps.size()) + 1;
    step.samples = not_measured;
    report.steps.push_back(step);
    if (rate > 0) report.rates.push_back({report.steps.size(), rate});
  }
  return report;
}

RunRate rate_of(const RankReport& report, PrintedThroughput take = PrintedThroughput::mean, std::size_t warm_up = 0)
{
  return rate_of_run(report, take, [warm_up](std::size_t line) { return line >= warm_up; });
}

} // namespace

TEST_CASE("the mean of printed throughputs is all work by all time, not that of the numbers")
{
  const auto rate = rate_of(report_of({100, 100, 900, 900}));
  CHECK(rate.value == Approx(180));
  CHECK(rate.words == "mean of 4 lines");
  CHECK(rate.doubts.size() == 1);
  CHECK(rate_of(report_of({100, 100, 900, 900}), PrintedThroughput::last).value == 900);
  CHECK(rate_of(report_of({100, 900, 100}), PrintedThroughput::max).value == 900);
  CHECK(rate_of(report_of({1, 500, 500}), PrintedThroughput::mean, 1).value == 500);
  CHECK(rate_of(report_of({900, 500, 400}), PrintedThroughput::max, 1).value == 500);
}

TEST_CASE("a throughput stands for the steps since the one before, and for their samples if those are known")
{
  auto report = report_of({100, 0, 0, 300, 0, 0, 300});
  CHECK(rate_of(report).value == Approx(7 / (1 / 100.0 + 3 / 300.0 + 3 / 300.0)));
  auto sampled = report_of({100, 200});
  sampled.steps[0].samples = 300;
  sampled.steps[1].samples = 100;
  CHECK(rate_of(sampled).value == Approx(400 / (300 / 100.0 + 100 / 200.0)));
}

TEST_CASE("a program that prints its throughput once keeps it")
{
  auto report = report_of({0, 0, 640});
  CHECK(rate_of(report, PrintedThroughput::mean, 2).value == 640);
  CHECK(rate_of(report).doubts.empty());
  report.steps.clear();
  CHECK(rate_of(report).value == 640);
}

TEST_CASE("a summary in a line without a new step is left out of the mean and named")
{
  auto report = report_of({640, 640, 640});
  report.rates.push_back({3, 99});
  report.rates.push_back({3, 3});
  const auto rate = rate_of(report);
  CHECK(rate.value == Approx(640));
  REQUIRE(rate.doubts.size() == 1);
  CHECK(rate.doubts[0].starts_with("2 printed throughputs stand in lines without a new step"));
  CHECK(rate_of(report, PrintedThroughput::last).value == 3);
}

TEST_CASE("steps without a throughput among steps that have one are named")
{
  CHECK(rate_of(report_of({2, 2, 2, 0, 0})).doubts == std::vector<std::string>{"2 of 5 lines with a step have no throughput"});
  CHECK(rate_of(report_of({2, 2, 0, 0, 2, 2})).doubts.size() == 1);
  CHECK(rate_of(report_of({0, 2, 0, 2, 0, 2, 0})).doubts.empty());
}

TEST_CASE("a mean needs every line of the output, but a figure behind the part that nobody has searched stands")
{
  auto report = report_of({0, 0});
  report.gap.emplace();
  report.rates.push_back({2, 640});
  CHECK(rate_of(report).value == 640);
  report.gap->rates = 1;
  CHECK(std::isnan(rate_of(report).value));
  CHECK(rate_of(report, PrintedThroughput::last).value == 640);
}
