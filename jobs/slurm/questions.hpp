// Repeats requests to Slurm with randomized back-off if it is slow, and turns a missing answer into one clear error.
#pragma once

#include "core/error.hpp"
#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/words.hpp"

#include <functional>
#include <string>
#include <utility>

namespace dt::jobs::slurm {

using Pause = std::function<void(double seconds)>;

// Number of tries before a request counts as unanswered: for a submission and the look-up after it, and for a read-only request,
// whose caller is waiting. If the controller hangs, each try takes MessageTimeout (10 s by default).
inline constexpr int most_tries = 3, most_tries_of_a_question = 2;

// Seconds to wait before the next try. Starts at one second and doubles each time, with a random factor from 0.5 to 1.5, so that
// callers who wait for a busy controller do not all return at once.
double pause_before_s(int next_try);

// Makes the scheduler error "Slurm's controller at host:port does not answer (…); nothing was lost; try again later."
Error no_answer(const SlurmApi& api, const SlurmFailure& failure);

// Calls a read-only request and returns its answer. Repeats it if the controller is slow or asks for a repetition, but not if it
// is down. Throws the no_answer error otherwise.
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
