// Timelines: spans, messages, and clocks that are compared. Started by mpirun with several counts of ranks.
#include "engine/comm/clock_offset.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>
#include <vector>

using namespace dt;
using namespace dt::comm;

TEST_CASE("a trace keeps spans with their step, and counts what it has no room for")
{
  Trace trace(3);
  trace.add({"early", "training", 1, 2});
  trace.begin_step(7);
  for (int i = 0; i < 4; ++i) trace.add({.name = "late", .track = "training", .begin_s = 2, .end_s = 3, .bytes = 8, .peer = 1});
  REQUIRE(trace.spans().size() == 3);
  CHECK(trace.spans()[0].step == 0);
  CHECK(trace.spans()[2].step == 7);
  CHECK(trace.spans()[2].bytes == 8);
  CHECK(trace.forgotten() == 2);
}

TEST_CASE("two threads may add to one trace")
{
  Trace trace(1000);
  std::thread other([&] {
    for (int i = 0; i < 500; ++i) trace.add({"a", "communication", 0, 1});
  });
  for (int i = 0; i < 500; ++i) trace.add({"b", "training", 0, 1});
  other.join();
  CHECK(std::count_if(trace.spans().begin(), trace.spans().end(),
                      [](const Span& span) { return span.name == std::string_view("a"); }) == 500);
  CHECK(trace.forgotten() == 0);
}

TEST_CASE("a message is a span at both ends, with bytes, tag and the rank at the other end, in a part of the ranks too")
{
  Communicator world(MPI_COMM_WORLD);
  if (world.size() < 3) return;
  // The last two ranks, in a communicator of their own where they are 1 and 0.
  auto pair = world.split(world.rank() >= world.size() - 2 ? 0 : -1, -world.rank());
  if (!pair) return;
  pair->begin_trace();
  std::vector<float> values(10, 1.0F);
  if (pair->rank() == 0) {
    pair->send_begin(std::span<const float>(values), 1, 5).wait();
    pair->send_begin(std::span<const float>(values), 1, 6).wait();
  } else {
    pair->receive_begin(std::span<float>(values), MPI_ANY_SOURCE, 5).wait();
    pair->receive_begin(std::span<float>(values), 0, 6).wait();
  }
  const auto spans = world.trace()->spans();
  REQUIRE(spans.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(spans[i].name == std::string_view(pair->rank() == 0 ? "send" : "receive"));
    CHECK(spans[i].bytes == 40);
    CHECK(spans[i].tag == 5 + static_cast<int>(i));
    CHECK(spans[i].peer == (pair->rank() == 0 ? world.size() - 2 : world.size() - 1));
    CHECK(spans[i].end_s >= spans[i].begin_s);
  }
}

TEST_CASE("clocks that are hours apart are compared to within the error that is told, at no cost to the traffic")
{
  Communicator comm(MPI_COMM_WORLD);
  // The ranks of a test share a machine, so their true offsets are those made up here.
  const double ahead = 3600.0 * comm.rank();
  const auto found = measure_clock_offset(comm, [&] { return monotonic_s() + ahead; });
  CHECK(std::abs(found.ahead_s - ahead) <= found.error_s + 1e-9);
  CHECK((found.error_s > 0) == !comm.is_root());
  CHECK(comm.traffic().messages == 0);
}
