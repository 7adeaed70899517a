// Waiting for values in shared memory, with threads in the ranks' place: so a race would be seen by the thread sanitizer.
#include "engine/comm/machine/doorbell.hpp"

#include <array>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::comm;

TEST_CASE("nobody sleeps through a value, whether ranks spin or sleep while they wait")
{
  const auto waiting = GENERATE(Waiting::spins, Waiting::sleeps);
  constexpr int ranks = 4, rounds = 2000;
  Doorbell bell{};
  std::array<std::atomic<int>, ranks> reached{};
  std::array<int, ranks> early{};
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const NodeWait wait(bell, waiting);
      for (int round = 1; round <= rounds; ++round) {
        reached[rank].store(round, std::memory_order_release);
        wait.tell();
        for (const auto& other : reached) wait.until([&] { return other.load(std::memory_order_acquire) >= round; });
        for (const auto& other : reached) early[rank] += other.load() < round ? 1 : 0;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(early == std::array<int, ranks>{});
  CHECK(bell.sleepers.load() == 0);
  CHECK((bell.rings.load() > 0) == (waiting == Waiting::sleeps));
}

TEST_CASE("a rank that waits long sleeps until the value is there")
{
  Doorbell bell{};
  std::atomic<bool> is_there = false;
  const NodeWait wait(bell, Waiting::sleeps);
  std::thread waits([&] { wait.until([&] { return is_there.load(std::memory_order_acquire); }); });
  while (bell.sleepers.load() == 0) std::this_thread::yield();
  is_there.store(true, std::memory_order_release);
  wait.tell();
  waits.join();
  CHECK(bell.sleepers.load() == 0);
}
