// Asking Slurm with patience: back-off with jitter where it is slow, and one sentence where it does not answer.
#pragma once

#include "core/error.hpp"
#include "jobs/slurm/api.hpp"
#include "jobs/slurm/words.hpp"

#include <functional>
#include <string>
#include <utility>

namespace dt::jobs::slurm {

using Pause = std::function<void(double seconds)>;

// Tries of a submission, and of the look after it, before it counts as not answered; and of a question, whose asker waits: each
// takes MessageTimeout (10 s by default) when the controller hangs.
inline constexpr int most_tries = 3, most_tries_of_a_question = 2;

// Seconds to wait before the next try: doubling from one second, half as much more or less by chance, so that many callers who
// wait for a busy controller do not come back together.
double pause_before_s(int next_try);

// A scheduler error: "Slurm's controller at host:port does not answer (…); nothing was lost; try again later."
Error no_answer(const SlurmApi& api, const SlurmFailure& failure);

// The answer of a call that changes nothing. Tried again when the controller is slow or asks for it, not when it is down. The
// scheduler error above otherwise.
template<typename Ask> auto ask(const SlurmApi& api, const Pause& pause, Ask question)
{
  for (int number = 1;; ++number) {
    try {
      return question();
    } catch (const SlurmFailure& failure) {
      if (number >= most_tries_of_a_question || !(is_temporary(failure.code()) || is_slow(failure.code())))
        throw no_answer(api, failure);
      pause(pause_before_s(number));
    }
  }
}

} // namespace dt::jobs::slurm
