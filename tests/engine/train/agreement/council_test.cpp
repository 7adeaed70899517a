// Ranks that agree on what to do, at once or a look later. Started by mpirun with several counts of ranks.
#include "engine/train/agreement/council.hpp"

#include <catch2/catch.hpp>

#include <thread>

namespace comm = dt::comm;
using dt::train::Council;

TEST_CASE("what any rank wishes, all ranks read, with rank 0's interval")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Council council(comm);
  const bool last = comm.rank() == comm.size() - 1;
  council.hand_in({.cancel = last, .checkpoint = comm.is_root()}, 10 + comm.rank());
  const auto agreed = council.read();
  CHECK(agreed.wish.cancel);
  CHECK(agreed.wish.checkpoint);
  CHECK_FALSE(agreed.wish.time_limit);
  CHECK_FALSE(agreed.wish.preemption);
  CHECK(agreed.interval == 10);
}

TEST_CASE("before anything is handed in, nobody waits and nothing is wished")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto agreed = Council(comm).read();
  CHECK_FALSE((agreed.wish.stops() || agreed.wish.checkpoint));
  CHECK(agreed.interval == 1);
}

TEST_CASE("read a look later, wishes reach ranks at different paces after the same steps, and a rank only waits for those behind "
          "by a look")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Council council(comm);
  const int wishing = comm.size() - 1;
  std::vector<double> stopped_at;
  for (int step = 1; step <= 20 && stopped_at.empty(); ++step) {
    if (comm.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (council.read().wish.preemption) stopped_at.push_back(step);
    council.hand_in({.preemption = comm.rank() == wishing && step == 12}, 1);
  }
  council.read();
  CHECK(stopped_at == std::vector<double>{13});
}
