#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/machine/communication_thread.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>

using namespace dt;
using namespace dt::sync;

namespace {

// Tensors of 3, 16, 20 and 8 floats, on lines of 16.
const std::vector<Range> tensors{{0, 3}, {16, 32}, {32, 52}, {64, 72}};
constexpr std::size_t floats = 80;

using Buckets = std::vector<Range>;

Buckets planned(std::size_t bucket_bytes) { return plan_buckets(tensors, floats, bucket_bytes); }

} // namespace

TEST_CASE("buckets are closed at their size, the last tensors first, with the padding behind each tensor")
{
  CHECK(planned(1) == Buckets{{64, 80}, {32, 64}, {16, 32}, {0, 16}});
  CHECK(planned(64) == Buckets{{64, 80}, {32, 64}, {16, 32}, {0, 16}});
  CHECK(planned(65) == Buckets{{32, 80}, {0, 32}});
  CHECK(planned(200) == Buckets{{16, 80}, {0, 16}});
  CHECK(planned(1000000) == Buckets{{0, 80}});
}

TEST_CASE("buckets of any size cover everything once")
{
  for (std::size_t bytes = 1; bytes < 400; ++bytes) {
    std::size_t end = floats;
    for (const auto& bucket : plan_buckets(tensors, floats, bytes)) {
      REQUIRE(bucket.end == end);
      end = bucket.begin;
    }
    REQUIRE(end == 0);
  }
  CHECK(plan_buckets({}, 0, 10).empty());
}

TEST_CASE("what can hide is what can be sent before the backward pass ends, one bucket after another")
{
  CHECK(hideable_s({}, {}) == 0);
  CHECK(hideable_s({2, 3}, {10, 8}) == 5);      // all of it
  CHECK(hideable_s({2, 3}, {10, 2}) == 4);      // the second is there 2 s before the end
  CHECK(hideable_s({2, 3}, {4, 3}) == 4);       // the second waits until the first is sent
  CHECK(hideable_s({9, 3}, {4, 3}) == 4);       // the link is busy past the end
  CHECK(hideable_s({2, 3, 1}, {4, 0, 0}) == 2); // the rest is there only at the end
}

TEST_CASE("a bucket is a tensor without pack, everything where nothing overlaps, else as the recipe says")
{
  CHECK(bucket_bytes({.pack = false, .bucket_bytes = 4096, .progress = dt::ProgressMode::thread}) == 1);
  CHECK(bucket_bytes({.bucket_bytes = 4096, .progress = dt::ProgressMode::none}) > 1'000'000'000'000);
  CHECK(bucket_bytes({.bucket_bytes = 4096, .progress = dt::ProgressMode::poll}, 65536) == 4096);
  CHECK(bucket_bytes({.bucket_bytes = 0, .progress = dt::ProgressMode::poll}, 65536) == 65536);
  CHECK(bucket_bytes({.bucket_bytes = 0, .progress = dt::ProgressMode::poll}) == 4 << 20);
}

TEST_CASE("a communication thread gets a core that no compute thread needs, and no two ranks of a host the same")
{
  const std::vector<int> four{0, 1, 2, 3};
  const std::vector<comm::RankPlace> shared{{"a", four}, {"a", four}, {"b", four}};
  REQUIRE(find_spare_core(shared, 0, 1));
  CHECK(find_spare_core(shared, 0, 1)->core == 2);
  CHECK(find_spare_core(shared, 1, 1)->core == 3);
  CHECK(find_spare_core(shared, 1, 1)->others == std::vector<int>{2, 3});
  CHECK(find_spare_core(shared, 2, 1)->core == 3);
  CHECK(find_spare_core(shared, 2, 1)->others == std::vector<int>{3});
  CHECK(find_spare_core(shared, 2, 3));
  CHECK_FALSE(find_spare_core(shared, 2, 4));
  CHECK_FALSE(find_spare_core(shared, 0, 2));

  const std::vector<comm::RankPlace> apart{{"a", {0, 1}}, {"a", {2, 3}}};
  CHECK(find_spare_core(apart, 0, 1)->core == 1);
  CHECK(find_spare_core(apart, 1, 1)->core == 3);
  const std::vector<comm::RankPlace> tangled{{"a", {0, 1, 2}}, {"a", {2, 3, 4}}};
  CHECK_FALSE(find_spare_core(tangled, 0, 1));
}

TEST_CASE("a communication thread does its tasks in order, and those who wait for it see them done")
{
  CommunicationThread thread(std::nullopt);
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) thread.give([&done, i] { done.push_back(i); });
  CHECK(thread.given() == 100);
  thread.wait_for(50);
  thread.wait_for(100);
  REQUIRE(done.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("what a task throws is thrown where it is waited for, and the tasks behind it are passed over")
{
  CommunicationThread thread(std::nullopt);
  std::atomic<bool> ran = false;
  thread.give([] { throw std::runtime_error("the network is down"); });
  thread.give([&ran] { ran = true; });
  CHECK_THROWS_WITH(thread.wait_for(2), "the network is down");
  CHECK_FALSE(ran);
}

TEST_CASE("a communication thread ends only when its tasks are done")
{
  std::atomic<int> done = 0;
  {
    CommunicationThread thread(std::nullopt);
    for (int i = 0; i < 10; ++i) thread.give([&done] { ++done; });
  }
  CHECK(done == 10);
}
