#include "engine/data/reading/read_range.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dt::data {

std::int64_t read_range(const Source& source, SampleRange samples, int threads, float* images, std::int32_t* labels)
{
  const auto floats = source.channels() * source.height() * source.width();
  const auto parts = source.has_blocks() ? static_cast<int>(std::clamp<std::int64_t>(samples.size(), 1, threads)) : 1;
  std::mutex mutex;
  std::exception_ptr failure;
  std::int64_t replaced = 0;
  const auto read_part = [&](int part) {
    try {
      const auto own = shard(samples.size(), part, parts);
      std::int64_t own_replaced = 0;
      for (auto i = own.begin; i < own.end; ++i) {
        const auto sample = source.read({.index = samples.begin + i}, images + i * floats);
        labels[i] = sample.label;
        own_replaced += sample.is_replaced ? 1 : 0;
      }
      const std::lock_guard lock(mutex);
      replaced += own_replaced;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::jthread> others; // joined also if one of them cannot be started
  for (int part = 1; part < parts; ++part) others.emplace_back(read_part, part);
  read_part(0);
  others.clear();
  if (failure) std::rethrow_exception(failure);
  return replaced;
}

} // namespace dt::data
