// events.log: the steps and evaluations of an attempt, a line each. Rank 0 appends them.
//
// "-" stands for a figure that was not reported. "NaN", "inf" and "-inf" are values.
#pragma once

#include "core/record/field.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dt {

enum class Phase { input, forward, backward, communication, optimizer, evaluation };
inline constexpr std::array<std::string_view, 6> phase_names{"input",         "forward",   "backward",
                                                             "communication", "optimizer", "evaluation"};
inline constexpr std::size_t phase_count = phase_names.size();

// One step as measured on rank 0. step_event_fields() defines the figures.
struct StepEvent {
  std::int64_t step = 0;
  double epoch = 0;
  double elapsed_s = 0;
  Reported loss;
  Reported learning_rate;
  double step_s = 0;
  std::array<double, phase_count> phase_s{}; // evaluation: 0
};

// One evaluation on the held-out set, by all ranks together. eval_event_fields() defines the figures.
struct EvalEvent {
  std::int64_t step = 0;
  double epoch = 0;
  double elapsed_s = 0;
  Reported loss;
  Reported accuracy;
  std::int64_t samples = 0;
  double eval_s = 0;
  double noise_scale = std::numeric_limits<double>::quiet_NaN();
};

void append_line(std::string& text, const StepEvent& event);
void append_line(std::string& text, const EvalEvent& event);

using Event = std::variant<std::monostate, StepEvent, EvalEvent>; // monostate: the line is not an event
Event parse_event(std::string_view line);

// All complete lines of an events.log. An incomplete last line is ignored.
struct Events {
  std::vector<StepEvent> steps;
  std::vector<EvalEvent> evals;
};
Events parse_events(std::string_view text);

} // namespace dt
