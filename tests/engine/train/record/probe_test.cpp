// The probe of every rank's place. Started by mpirun with several counts of ranks.
#include "core/machine/process.hpp"
#include "engine/train/record/probe.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::train;

TEST_CASE("a probe measures every rank, and the network where there is one")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto probe = probe_ranks(comm, 1, "mpi");
  CHECK(probe.allreduce_bytes == 1'048'576);
  CHECK((comm.size() == 1 ? std::isnan(probe.allreduce_s) : probe.allreduce_s > 0));
  REQUIRE(probe.ranks.size() == (comm.is_root() ? static_cast<std::size_t>(comm.size()) : 0));
  for (std::size_t r = 0; r < probe.ranks.size(); ++r) {
    CHECK(probe.ranks[r].rank == static_cast<int>(r));
    CHECK(probe.ranks[r].host == dt::host_name());
    CHECK(probe.ranks[r].gemm_gflops > 0);
    CHECK((std::isnan(probe.ranks[r].clock_mhz) || probe.ranks[r].clock_mhz > 100));
  }
}

TEST_CASE("the probe sends through the run's own allreduce")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK_NOTHROW(probe_ranks(comm, 1, "mpi"));
  if (comm.size() > 1) {
    CHECK(comm.traffic().bytes > 0);
    CHECK_THROWS_WITH(probe_ranks(comm, 1, "none"), Catch::Contains("there is no allreduce `none`"));
  }
}
