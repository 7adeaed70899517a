// WinogradFilter by itself, with the caches of other machines: how work is divided depends on them.
#include "engine/nn/kernels/aligned_buffer.hpp"
#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/nn/layers/winograd/winograd_filter.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

constexpr CacheSizes tiny{1, 1}, usual{512 << 10, 16 << 20}, huge{64 << 20, 1 << 30};

void fill(std::span<float> numbers)
{
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.01F * static_cast<float>(i % 251) - 1.25F;
}

std::vector<float> filtered(WinogradFilter::Case of, const CacheSizes& caches)
{
  of.caches = caches;
  const WinogradTiling tiling(3, Precision::fp32);
  const WinogradFilter filter(tiling, of);
  constexpr std::int64_t bytes = sizeof(float);
  const AlignedBuffer images(of.batch * of.from.size() * bytes), weights(9 * of.from.channels * of.to.channels * bytes),
      results(of.batch * of.to.size() * bytes), buffer(filter.buffer_floats() * bytes);
  fill(images.floats()), fill(weights.floats());
  prepare_compute_thread(of.threads);
  filter.run(images.data(), weights.floats().data(), nullptr, results.data(), buffer.floats().data());
  return {results.floats().begin(), results.floats().end()};
}

} // namespace

// With tiny caches, threads share chunks; with others, each has chunks of its own, of different sizes.
TEST_CASE("results by Winograd's algorithm have equal bits for every size of the caches and every number of threads")
{
  for (const bool rotated : {false, true}) {
    const WinogradFilter::Case of{.from = {48, 61, 58}, .to = {80, 61, 58}, .padding = 1, .rotated = rotated, .batch = 3};
    const auto expected = filtered(of, tiny);
    CHECK(std::any_of(expected.begin(), expected.end(), [](float result) { return result != 0; }));
    for (const int threads : {1, 2, 3})
      for (const auto& caches : {tiny, usual, huge}) {
        INFO("rotated " << rotated << ", threads " << threads << ", own cache " << caches.own);
        auto other = of;
        other.threads = threads;
        CHECK((filtered(other, caches) == expected)); // in brackets: a failed check would otherwise print all numbers
      }
  }
}
