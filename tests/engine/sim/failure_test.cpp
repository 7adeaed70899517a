// An error on one simulated rank ends the simulation.
#include "core/error.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"
#include "engine/sync/machine/communication_thread.hpp"

#include <span>

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("an error of one simulated rank is thrown to the caller, although the other ranks wait for it")
{
  CHECK_THROWS_WITH(sim::simulate({.platform = {.nodes = 3}},
                                  [](comm::Communicator& comm) {
                                    if (comm.rank() == 1) throw Error(ErrorKind::run, "rank 1 has failed");
                                    comm.barrier();
                                  }),
                    "rank 1 has failed");
}

TEST_CASE("simulated ranks that wait for each other without end are an error")
{
  CHECK_THROWS_WITH(sim::simulate({.platform = {.nodes = 2}},
                                  [](comm::Communicator& comm) {
                                    float value = 0;
                                    if (comm.rank() == 0) comm.receive_begin(std::span(&value, 1), 1, 7).wait();
                                  }),
                    "1 of 2 simulated ranks wait for each other without end.");
}

TEST_CASE("an error of one simulated rank is thrown to the caller, although the other ranks' communication threads wait for it")
{
  CHECK_THROWS_WITH(sim::simulate({.platform = {.nodes = 3}},
                                  [](comm::Communicator& comm) {
                                    sync::CommunicationThread thread(std::nullopt);
                                    thread.give([&] { comm.barrier(); });
                                    if (comm.rank() == 1) throw Error(ErrorKind::run, "rank 1 has failed");
                                    comm::pause_s(1);
                                    thread.wait_for(1);
                                  }),
                    "rank 1 has failed");
}

TEST_CASE("an error of a simulated communication thread's task is thrown by the wait for it, and later tasks are skipped")
{
  int later = 0;
  CHECK_THROWS_WITH(sim::simulate({.platform = {.nodes = 1}},
                                  [&](comm::Communicator&) {
                                    sync::CommunicationThread thread(std::nullopt);
                                    thread.give([] { throw Error(ErrorKind::run, "the sum has failed"); });
                                    thread.give([&] { ++later; });
                                    comm::pause_s(1);
                                    thread.wait_for(2);
                                  }),
                    "the sum has failed");
  CHECK(later == 0);
}
