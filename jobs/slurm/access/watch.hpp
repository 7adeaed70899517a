// Detects a controller that is down while a request waits for it. libslurm alone would retry first (9 s with Slurm's default
// MessageTimeout).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace dt::jobs::slurm {

inline constexpr std::chrono::milliseconds watch_patience{400};

// Returns the answer of `ask`. If it takes longer than `patience`, calls `look`. If `look` throws, watched throws too and leaves
// `ask` running in its own thread. Therefore `ask` must own all data it uses and must not change anything.
template<typename Ask>
auto watched(Ask ask, const std::function<void()>& look, std::chrono::milliseconds patience = watch_patience)
{
  std::packaged_task<decltype(ask())()> task(std::move(ask));
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(patience) != std::future_status::ready) look();
  return answer.get();
}

// Whether nobody listens at that address, i.e. the connection is refused at once. Returns false if the connection is accepted or
// there is no reply within a second.
bool refuses_connections(const std::string& host, std::uint16_t port);

} // namespace dt::jobs::slurm
