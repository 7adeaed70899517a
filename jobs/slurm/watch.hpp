// A question that is watched while it is asked, so that a controller that is down is known at once and not after libslurm's
// retries (9 s with Slurm's default MessageTimeout).
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

// The answer of `ask`. When it takes longer than `patience`, `look` is called; if it throws, so does this, and the question
// is left to end by itself in its own thread: `ask` must own what it uses and change nothing.
template<typename Ask> auto watched(Ask ask, const std::function<void()>& look, std::chrono::milliseconds patience = watch_patience)
{
  std::packaged_task<decltype(ask())()> task(std::move(ask));
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(patience) != std::future_status::ready) look();
  return answer.get();
}

// True when nobody listens at that address: the connection is refused at once. False when it is accepted or nothing is known
// within a second.
bool refuses_connections(const std::string& host, std::uint16_t port);

} // namespace dt::jobs::slurm
