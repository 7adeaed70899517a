#include "jobs/machine/in_parallel.hpp"

#include "core/machine/cpu_allowance.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dt::jobs {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work)
{
  constexpr std::size_t worth_a_thread = 256, most_threads = 8;
  const auto cores = cpu_allowance().whole_cores();
  const auto threads = std::clamp(count / worth_a_thread, std::size_t{1}, std::min(cores, most_threads));
  std::exception_ptr failure;
  std::mutex mutex; // guards failure
  const auto part = [&](std::size_t number) {
    try {
      for (std::size_t i = number * count / threads; i < (number + 1) * count / threads; ++i) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t number = 1; number < threads; ++number) others.emplace_back(part, number);
    part(0);
  }
  if (failure) std::rethrow_exception(failure);
}

} // namespace dt::jobs
