// Memory for vectors.
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/vectors.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::comm;

TEST_CASE("a buffer holds zeros, aligned to 64 bytes, grows without keeping them, and moves")
{
  Floats buffer(5);
  CHECK(std::vector<float>(buffer.begin(), buffer.end()) == std::vector<float>(5));
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  const auto* before = buffer.data();
  buffer.grow(3); // smaller: nothing happens
  CHECK((buffer.size() == 5 && buffer.data() == before));
  buffer.data()[0] = 1;
  buffer.grow(100);
  CHECK(std::vector<float>(buffer.begin(), buffer.end()) == std::vector<float>(100));
  Floats moved = std::move(buffer);
  CHECK(moved.size() == 100);
  buffer = std::move(moved);
  CHECK((buffer.size() == 100 && moved.empty())); // NOLINT(bugprone-use-after-move)
  moved = std::move(buffer);
  CHECK(buffer.empty()); // NOLINT(bugprone-use-after-move)
  CHECK(Floats().empty());
}

TEST_CASE("a copy of values has memory of its own")
{
  const std::vector<float> values{1, 2, 3};
  const auto copy = copy_of(values);
  CHECK(std::vector<float>(copy.begin(), copy.end()) == values);
  CHECK(copy.data() != values.data());
}
