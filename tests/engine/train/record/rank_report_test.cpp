// Records of all ranks at rank 0. Started by mpirun with several counts of ranks.
#include "engine/train/record/rank_report.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::train;

TEST_CASE("rank 0 gets every rank's record unchanged, the others none")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const double base = 100.0 * comm.rank();
  dt::RankRecord mine;
  mine.host = "host" + std::string(static_cast<std::size_t>(comm.rank()), 'x');
  for (std::size_t i = 0; i < dt::phase_count; ++i) mine.phases[i] = {base + static_cast<double>(i), 1, 2, 3, 4, 5};
  mine.step = {base + 10, 11, 12, 13, 14, 15};
  mine.bytes_sent = (std::int64_t{1} << 40) + comm.rank();
  mine.messages_sent = 3;
  mine.memory_peak_bytes = 4;
  mine.late_s = base + 0.5;
  if (comm.rank() == 1) mine.role = "server";

  const auto records = gather_records(mine, comm);
  REQUIRE(records.size() == (comm.is_root() ? static_cast<std::size_t>(comm.size()) : 0));
  for (std::size_t r = 0; r < records.size(); ++r) {
    CHECK(records[r].rank == static_cast<int>(r));
    CHECK(records[r].host == "host" + std::string(r, 'x'));
    CHECK(records[r].phases[5].total_s == 100.0 * static_cast<double>(r) + 5);
    CHECK(records[r].phases[5].max_s == 5);
    CHECK(records[r].step.mean_s == 11);
    CHECK(records[r].bytes_sent == (std::int64_t{1} << 40) + static_cast<std::int64_t>(r));
    CHECK(records[r].memory_peak_bytes == 4);
    CHECK(records[r].late_s == 100.0 * static_cast<double>(r) + 0.5);
    CHECK(records[r].role == (r == 1 ? "server" : "worker"));
  }
}

TEST_CASE("a mean over workers leaves out servers and those that measured nothing")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  sync::Roles roles;
  for (int rank = 0; rank < comm.size() - 1; ++rank) roles.workers.push_back(rank);
  const double mine = comm.rank() == 0 ? 3 : dt::not_measured;
  const double mean = mean_of_workers(comm.rank() == comm.size() - 1 ? 100 : mine, roles, comm);
  if (comm.is_root() && comm.size() > 1)
    CHECK(mean == 3);
  else
    CHECK(std::isnan(mean));
}

TEST_CASE("staleness is told of all ranks' updates together")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK(gather_staleness({}, comm).updates == 0);
  CHECK(std::isnan(gather_staleness({}, comm).mean));
  // Ages 0 … 99 dealt out to the ranks in turn: 95 of them are at most 94.
  std::vector<std::int32_t> mine;
  for (int age = comm.rank(); age < 100; age += comm.size()) mine.push_back(age);
  const auto all = gather_staleness(mine, comm);
  CHECK(all.updates == 100);
  CHECK(all.mean == Approx(49.5));
  CHECK(all.p95 == 94);
  CHECK(all.max == 99);
}

TEST_CASE("the memory high-water mark is above a buffer that was held")
{
  const std::vector<char> buffer(50'000'000, 'x');
  CHECK(memory_peak_bytes() > static_cast<std::int64_t>(buffer.size()));
}
