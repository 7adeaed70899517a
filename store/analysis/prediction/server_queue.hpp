// Replays training with parameter servers by discrete events. Pure functions.
//
// Each worker computes `period` steps, then sends its exchange to the servers and waits for the answer. All servers work on an
// exchange at the same time, each on its part, so together they are one queue with one service time.
#pragma once

#include "store/analysis/prediction/step_spread.hpp"

#include <cstdint>

namespace dt::store {

// Times are means, in seconds.
struct ServedStep {
  std::int64_t workers = 1;
  double input_s = 0, compute_s = 0, update_s = 0; // of a worker and a step
  StepSpread spread{};                             // of the compute times
  std::int64_t period = 1;                         // steps from one exchange of a worker to its next
  double service_s = 0;                            // in which one exchange keeps the servers busy, of which
  double service_link_s = 0;                       // is the time of its bytes on the servers' link; 0 if that is not known
  // How much longer the servers are busy with an exchange than its worker waits for the answer: easgd's servers update the centre
  // after they have answered. Negative: the answer is still on its way when the servers take the next exchange.
  double after_answer_s = 0;
  std::int64_t threads = 1; // exchanges that the servers work on at the same time: lock-free servers
  bool in_turn = false;     // easgd: the servers answer the workers one after another in a fixed order
};

struct ReplayedService {
  double step_s = 0;    // mean of a worker and a step
  double waiting_s = 0; // of it, waiting for the servers and for the answer
  double busy = 0;      // share of the time in which the servers work, 0..1
};

ReplayedService replay(const ServedStep& step);

// The service time with which the replay's mean step takes `step_s`, by bisection. As short as after_answer_s allows (0 or above)
// if the workers alone take longer.
double service_that_gives(ServedStep step, double step_s);

} // namespace dt::store
