// StepNumbers: the steps of a training, from 1, by the numbers that its program prints (program.metrics.step). A program may
// count from 0, begin again in every epoch, or go back once to the step of a checkpoint.
#pragma once

#include "core/record/field.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

// What the program has printed in the line of a step.
struct PrintedStep {
  std::optional<std::int64_t> number;
  std::optional<std::int64_t> of; // the number behind it: 390 of "[12/390]"
  double epoch = not_measured;    // the last one that was printed
};

class StepNumbers {
 public:
  // The number of the step among all of the training. It is below the one before only if the training has gone back to a
  // checkpoint.
  std::int64_t take(const PrintedStep& printed);
  // The numbers of the program begin again in every epoch.
  bool restarts() const { return restarts_ > 0; }
  // How many steps the epochs have is known from the printed numbers.
  bool is_exact() const { return is_exact_; }
  // A sentence for each thing that was found about the numbers since the last call.
  std::vector<std::string> new_notes();
  // The same, at the end, about what is doubtful.
  std::vector<std::string> doubts() const;

 private:
  struct Epoch {
    double number = not_measured;
    std::int64_t before = 0; // steps
  };
  bool is_new_epoch(const PrintedStep& printed) const;
  void begin_epoch(const PrintedStep& printed);
  void go_back(const PrintedStep& printed);

  std::optional<std::int64_t> first_, last_; // as printed
  std::optional<std::int64_t> spacing_;      // of the last two numbers in this epoch
  std::optional<std::int64_t> of_;
  std::vector<Epoch> epochs_{Epoch{}};
  double last_epoch_ = not_measured;
  std::int64_t steps_ = 0, shift_ = 0; // shift_: 1 if the program counts from 0
  int restarts_ = 0;
  bool is_exact_ = true;
  std::vector<std::string> notes_, doubts_;
};

} // namespace dt::jobs
