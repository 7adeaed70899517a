#include "jobs/program/reports/rank_report.hpp"

#include <catch2/catch.hpp>

using namespace dt::jobs;

namespace {

RankReport failed(int rank, double unix_s)
{
  RankReport report;
  report.start.rank = rank;
  report.error = ErrorLine{3, unix_s, "no connection"};
  return report;
}

} // namespace

TEST_CASE("the earliest error counts, whatever the number of its rank, and errors from a given time on do not")
{
  const std::vector<RankReport> reports{failed(0, 30), RankReport(), failed(2, 10), failed(3, 20)};
  const auto* first = earliest_error(reports);
  REQUIRE(first != nullptr);
  CHECK(first->start.rank == 2);
  CHECK(earliest_error(reports, 10) == nullptr);
  CHECK(earliest_error(reports, 10.5) == first);
  CHECK(earliest_error({}) == nullptr);
}

TEST_CASE("of a rank that its launcher has started again, the last training counts")
{
  RankReport report;
  const auto take = [&](const char* text) { report.take(parse_report_line(text)); };
  take("rank 1 40 host 0-1 -");
  take("worker 41 2 0");
  take("begin 100 0");
  take("step 1 101 1 10 0.5 - - - - - - -");
  take("step 2 102 1 10 0.5 - - - - - - -");
  take("error 2 1700000000 ValueError");
  CHECK(report.restarts() == 0);
  take("worker 42 2 1");
  take("worker 43 2 1"); // a process that the rank has started
  CHECK(report.restarts() == 1);
  CHECK(report.worker->pid == 42);
  CHECK(report.start.pid == 40);
  CHECK(report.steps.empty());
  CHECK_FALSE(report.begin);
  CHECK_FALSE(report.error);
  take("step 1 111 1 10 0.5 - - - - - - -");
  CHECK(report.steps.size() == 1);
  CHECK(report.damaged_lines == 0);
  take("worker 44 0 1");
  take("worker 44 2");
  CHECK(report.damaged_lines == 2);
}
