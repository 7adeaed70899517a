// Records of all ranks at rank 0. Started by mpirun with several counts of ranks.
#include "engine/train/rank_report.hpp"

#include <catch2/catch.hpp>

using namespace dt::engine;

TEST_CASE("rank 0 gets every rank's record unchanged, the others none")
{
  Communicator comm(MPI_COMM_WORLD);
  const double base = 100.0 * comm.rank();
  dt::RankRecord mine;
  mine.host = "host" + std::string(static_cast<std::size_t>(comm.rank()), 'x');
  for (std::size_t i = 0; i < dt::phase_count; ++i) mine.phases[i] = {base + static_cast<double>(i), 1, 2, 3, 4, 5};
  mine.step = {base + 10, 11, 12, 13, 14, 15};
  mine.bytes_sent = (std::int64_t{1} << 40) + comm.rank();
  mine.messages_sent = 3;
  mine.memory_peak_bytes = 4;

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
  }
}

TEST_CASE("communication share is the mean over ranks of exposed communication by step time")
{
  std::vector<dt::RankRecord> ranks(2);
  ranks[0].step.total_s = 10;
  ranks[0].phases[static_cast<std::size_t>(dt::Phase::communication)].total_s = 1;
  ranks[1].step.total_s = 10;
  ranks[1].phases[static_cast<std::size_t>(dt::Phase::communication)].total_s = 4;
  CHECK(communication_share(ranks) == Approx(0.25));
}

TEST_CASE("the memory high-water mark is above a buffer that was held")
{
  const std::vector<char> buffer(50'000'000, 'x');
  CHECK(memory_peak_bytes() > static_cast<std::int64_t>(buffer.size()));
}
