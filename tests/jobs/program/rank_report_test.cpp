#include "jobs/program/rank_report.hpp"

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
