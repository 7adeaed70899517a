// The thread that moves messages on beside the computation, without MPI.
#include "core/error.hpp"
#include "engine/sync/machine/progress_thread.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace dt;
using namespace dt::sync;

namespace {

void compute_until(const auto& event)
{
  while (!event()) std::this_thread::yield();
}

} // namespace

TEST_CASE("a progress thread moves on what is under way while the computing thread computes")
{
  std::atomic<int> looks{0};
  ProgressThread thread([&] {
    ++looks;
    return true;
  });
  thread.alone([] { return true; });
  compute_until([&] { return looks >= 5; });
  CHECK(thread.looks().count >= 5);
  CHECK(thread.looks().busy_s > 0);
}

TEST_CASE("while the computing thread calls MPI, the progress thread does not, and neither the other way round")
{
  std::atomic<int> inside{0}, looks{0};
  std::atomic<bool> met{false};
  const auto enter_and_leave = [&] {
    if (++inside > 1) met = true;
    std::this_thread::yield();
    --inside;
    return true;
  };
  ProgressThread thread([&] {
    ++looks;
    return enter_and_leave();
  });
  compute_until([&] {
    thread.alone(enter_and_leave);
    return looks >= 20;
  });
  CHECK_FALSE(met);
}

TEST_CASE("a progress thread stops when nothing is left to move on, and begins again with the next call that has something")
{
  std::atomic<int> looks{0};
  ProgressThread thread([&] {
    ++looks;
    return false;
  });
  for (int i = 0; i < 10; ++i) thread.alone([] { return false; });
  for (int round = 1; round <= 3; ++round) {
    thread.alone([] { return true; });
    compute_until([&] { return looks >= round; });
    thread.alone([] { return false; });
    CHECK(looks == round);
  }
}

TEST_CASE("what fails in the progress thread is thrown by the computing thread's next call, which is not made")
{
  std::atomic<bool> looked{false};
  ProgressThread thread([&]() -> bool {
    looked = true;
    throw Error(ErrorKind::internal, "the link is down");
  });
  thread.alone([] { return true; });
  compute_until([&] { return looked.load(); });
  bool called = false;
  const auto call = [&] { return called = true; };
  for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH(thread.alone(call), "the link is down");
  CHECK_FALSE(called);
}
