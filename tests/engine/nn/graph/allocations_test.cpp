// What a step asks of the heap. This program counts every `new` and tells by the caller's address whose it was.
#include "tests/engine/nn/models/memorizing.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

#include <dlfcn.h>
#include <malloc.h>

#include <catch2/catch.hpp>

namespace {

std::atomic<bool> counting = false;
std::atomic<std::int64_t> own = 0, largest = 0;

// oneDNN keeps the list of a primitive's arguments anew at each call: some hundred bytes, which nobody can spare it.
bool is_onednns(const void* caller)
{
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::string_view(info.dli_fname).find("libdnnl") != std::string_view::npos;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller)
{
  if (counting.load(std::memory_order_relaxed)) {
    if (!is_onednns(caller)) ++own;
    auto before = largest.load();
    while (before < static_cast<std::int64_t>(bytes) &&
           !largest.compare_exchange_weak(before, static_cast<std::int64_t>(bytes))) {
    }
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return memory;
}

} // namespace

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete" // free() is what goes with our own new
#endif

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t), __builtin_return_address(0)); }
void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t), __builtin_return_address(0)); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
  return allocate(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace dt;
using namespace dt::nn;

namespace {

struct Asked {
  std::int64_t own, largest, kept; // calls of ours, bytes at once by anybody, bytes more in use than before
};

template<class Work> Asked asked_by(Work work)
{
  const auto before = mallinfo2();
  own = largest = 0;
  counting = true;
  work();
  counting = false;
  const auto after = mallinfo2();
  return {own, largest,
          static_cast<std::int64_t>(after.uordblks + after.hblkhd) - static_cast<std::int64_t>(before.uordblks + before.hblkhd)};
}

// Once more until nothing is kept, five times at most. What a step leaks it leaks each time; but the C library counts a piece
// that waits in a thread's own cache as in use, so a single step may seem to keep (or to give back) a hundred bytes of oneDNN's
// short lists.
template<class Work> Asked asked_by_repeats(Work work)
{
  auto all = asked_by(work);
  for (int again = 1; again < 5 && all.kept != 0; ++again) {
    const auto asked = asked_by(work);
    all = {std::max(all.own, asked.own), std::max(all.largest, asked.largest),
           std::min(std::abs(all.kept), std::abs(asked.kept))};
  }
  return all;
}

void check_step(const NetworkOptions& options)
{
  Learner learner(options, 0.001F);
  const auto samples = random_samples(options, options.batch);
  for (int warmup = 0; warmup < 3; ++warmup) learner.step(samples);
  learner.evaluation().evaluate(samples.images, samples.labels);
  const auto asked = asked_by_repeats([&] {
    learner.step(samples);
    learner.evaluation().evaluate(samples.images, samples.labels);
  });
  INFO(options.model << ", threads " << options.threads);
  CHECK(asked.own == 0);
  CHECK(asked.largest < 4096);
  CHECK(asked.kept == 0);
}

} // namespace

TEST_CASE("the count sees what is allocated")
{
  const auto asked = asked_by([] { delete new std::vector<double>(1000); });
  CHECK(asked.own >= 1); // the compiler may spare one
  CHECK(asked.largest == 8000);
}

TEST_CASE("what each step keeps is seen, what moves between the caches of threads is not")
{
  std::vector<void*> kept;
  kept.reserve(16);
  CHECK(asked_by_repeats([&] { kept.push_back(std::malloc(4000)); }).kept >= 4000);
  int step = 0;
  CHECK(asked_by_repeats([&] {
          if (step++ == 0) kept.push_back(std::malloc(4000));
        }).kept == 0);
  for (auto* memory : kept) std::free(memory);
}

TEST_CASE("nothing is allocated in a step or an evaluation")
{
  for (const std::string model : {"lenet", "alexnet-cifar", "vgg11-cifar", "resnet20", "googlenet-cifar"})
    for (const int threads : {1, 2}) check_step(natural(model, 4, threads));
}

TEST_CASE("nothing is allocated in a step with dropout, in bfloat16, or by the reference")
{
  auto options = natural("alexnet-cifar", 4);
  options.dropout = true;
  check_step(options);
  auto reference = natural("lenet", 4); // larger networks take seconds for each sample
  reference.reference = true;
  check_step(reference);
  if (!is_supported(Precision::bf16)) return;
  options.precision = Precision::bf16;
  check_step(options);
}
