// Ranks that agree on what to do, at once or a check later. Started by mpirun with several counts of ranks.
#include "engine/train/agreement/request_agreement.hpp"

#include <catch2/catch.hpp>

#include <thread>

namespace comm = dt::comm;
using dt::train::RequestReduction;

TEST_CASE("what any rank requests, all ranks read, with rank 0's interval")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  RequestReduction reduction(comm);
  const bool last = comm.rank() == comm.size() - 1;
  reduction.begin({.cancel = last, .checkpoint = comm.is_root()}, 10 + comm.rank());
  const auto agreed = reduction.result();
  CHECK(agreed.request.cancel);
  CHECK(agreed.request.checkpoint);
  CHECK_FALSE(agreed.request.time_limit);
  CHECK_FALSE(agreed.request.preemption);
  CHECK(agreed.interval == 10);
}

TEST_CASE("before a reduction begins, nobody waits and nothing is requested")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto agreed = RequestReduction(comm).result();
  CHECK_FALSE((agreed.request.stops() || agreed.request.checkpoint));
  CHECK(agreed.interval == 1);
}

TEST_CASE(
    "read a check later, requests reach ranks at different paces after the same steps, and a rank only waits for those behind "
    "by a check")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  RequestReduction reduction(comm);
  const int requesting = comm.size() - 1;
  std::vector<double> stopped_at;
  for (int step = 1; step <= 20 && stopped_at.empty(); ++step) {
    if (comm.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (reduction.result().request.preemption) stopped_at.push_back(step);
    reduction.begin({.preemption = comm.rank() == requesting && step == 12}, 1);
  }
  reduction.result();
  CHECK(stopped_at == std::vector<double>{13});
}
