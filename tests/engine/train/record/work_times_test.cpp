// Sums and maxima of useful time over ranks. Started by mpirun with several counts of ranks.
#include "engine/train/record/work_times.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::train;

namespace {

std::array<double, phase_count> phases(double useful_s, double input_s)
{
  std::array<double, phase_count> phase_s{};
  phase_s[static_cast<std::size_t>(Phase::forward)] = 0.25 * useful_s;
  phase_s[static_cast<std::size_t>(Phase::backward)] = 0.5 * useful_s;
  phase_s[static_cast<std::size_t>(Phase::optimizer)] = 0.25 * useful_s;
  phase_s[static_cast<std::size_t>(Phase::input)] = input_s;
  phase_s[static_cast<std::size_t>(Phase::communication)] = 1000; // takes no part
  return phase_s;
}

sync::Roles all_work(const comm::Communicator& comm)
{
  sync::Roles roles;
  for (int rank = 0; rank < comm.size(); ++rank) roles.workers.push_back(rank);
  roles.index = comm.rank();
  return roles;
}

struct World {
  // In step s the rank s (modulo the number of ranks) is slow: 3 s instead of 1 s. Every rank waits 0.5 s for its input.
  void add_slow_in_turn(int steps, int period)
  {
    for (int s = 0; s < steps; ++s) times.add_step(phases(s % comm.size() == comm.rank() ? 3 : 1, 0.5), (s + 1) % period == 0);
  }
  comm::Communicator comm{MPI_COMM_WORLD};
  sync::Roles roles = all_work(comm);
  WorkTimes times{roles, comm};
};

} // namespace

TEST_CASE("with a meeting in every step the slowest rank of every step counts")
{
  World world;
  auto& times = world.times;
  const int ranks = world.comm.size();
  world.add_slow_in_turn(6, 1);
  times.collect();
  const auto& sums = times.sums();
  CHECK(sums.useful_s == Approx(6.0 * (ranks + 2)));
  CHECK(sums.useful_max_s == Approx(6 + 2.0 * 6 / ranks));
  CHECK(sums.useful_step_max_s == Approx(18));
  CHECK(sums.busy_step_max_s == Approx(21));
  // At most half of the times in the window are slow, unless there is one rank. With four ranks, two are slow once and two twice.
  CHECK(sums.useful_step_fast_s == Approx(ranks == 1 ? 18 : 6));
  CHECK(sums.useful_fast_s == Approx(6 + 2.0 * (6 / ranks)));
  // A slow rank exceeds the mean by 2 - 2/P in each of its 6/P steps.
  CHECK(times.late_s() == Approx((2 - 2.0 / ranks) * 6 / ranks));
}

TEST_CASE("within a period that every rank ends with the same work nobody is slow")
{
  World world;
  auto& [comm, roles, times] = world;
  world.add_slow_in_turn(6, comm.size()); // each rank is slow once in a period
  times.collect();
  CHECK(times.sums().useful_step_max_s == Approx(times.sums().useful_max_s));
  CHECK(times.late_s() == Approx(0).margin(1e-9));
}

TEST_CASE("without meetings the steps up to a collection are one interval")
{
  World world;
  auto& [comm, roles, times] = world;
  for (int s = 0; s < 4; ++s) times.add_step(phases(1 + comm.rank(), 0), false);
  times.collect();
  CHECK(times.sums().useful_step_max_s == Approx(4.0 * comm.size()));
  for (int s = 0; s < 2; ++s) times.add_step(phases(comm.size() - comm.rank(), 0), false); // now rank 0 has the most work
  times.collect();
  CHECK(times.sums().useful_step_max_s == Approx(4.0 * comm.size() + 2.0 * comm.size()));
  CHECK(times.sums().useful_max_s == Approx(std::max(4.0 * comm.size() + 2.0, 4.0 + 2.0 * comm.size())));
}

TEST_CASE("the fast worker of a long training is that of all its steps, although they are gathered in parts")
{
  World world;
  auto& [comm, roles, times] = world;
  constexpr int steps = 1200;
  for (int s = 0; s < steps; ++s) times.add_step(phases(comm.rank() == 1 ? 3 : 1, 0), true);
  times.collect();
  CHECK(times.sums().useful_step_fast_s == Approx(steps));
  CHECK(times.sums().useful_fast_s == Approx(steps));
}

TEST_CASE("collecting when no step was added changes nothing")
{
  World world;
  auto& [comm, roles, times] = world;
  times.collect();
  CHECK(times.sums().useful_s == 0);
  world.add_slow_in_turn(3, 1);
  times.collect();
  const auto before = times.sums();
  times.collect();
  CHECK(times.sums().useful_s == before.useful_s);
  CHECK(times.sums().busy_step_max_s == before.busy_step_max_s);
  CHECK(times.sums().useful_step_fast_s == before.useful_step_fast_s);
}

TEST_CASE("a server's time counts as no work")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  sync::Roles roles;
  for (int rank = 0; rank + 1 < comm.size(); ++rank) roles.workers.push_back(rank);
  roles.servers = {comm.size() - 1};
  roles.is_server = comm.rank() + 1 == comm.size();
  WorkTimes times(roles, comm);
  times.add_step(phases(roles.is_server ? 100 : 1, 0), false);
  times.collect();
  CHECK(times.sums().useful_s == Approx(comm.size() - 1));
  CHECK(times.sums().useful_max_s == Approx(1));
  CHECK(times.sums().useful_fast_s == Approx(1));
  CHECK(times.sums().useful_step_fast_s == Approx(1));
  CHECK(times.late_s() == Approx(0).margin(1e-12));
}
