// Displays the progress of one count, such as the images of a data set, and what every display of progress needs: bars, the time
// left, and when a log gets a line.
#pragma once

#include "cli/output/terminal.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace dt::cli {

class CountView {
 public:
  virtual ~CountView() = default;
  virtual void show(double done, double all, double now_s) = 0;
  // Erases the line, so that other text can be written.
  virtual void leave() = 0;
};

// On standard error. In a terminal: one line that is redrawn. Elsewhere: a line now and then. Nothing if `quiet`.
std::unique_ptr<CountView> make_count_view(const Terminal& terminal, bool quiet, const std::string& unit);

// When a log gets a line: at the first estimate of the remaining time, and in intervals that grow with the time that has passed,
// so that a day has about a hundred lines.
class LogTimes {
 public:
  // Times are in seconds and must not decrease. The first call begins the first interval.
  bool is_due(double now_s, bool has_estimate);

 private:
  std::optional<double> begin_s_;
  double last_s_ = 0;
  bool had_estimate_ = false;
};

// Writes to standard error, or to standard output, which it flushes each time.
class StreamWriter {
 public:
  explicit StreamWriter(bool to_stderr) : to_stderr_(to_stderr) {}
  void write(const std::string& text) const;

 private:
  bool to_stderr_;
};

// "[####....] " and the text, of exactly `columns` if the text leaves room for the bar, else cut to them.
std::string bar_and_text(double fraction, const std::string& text, std::size_t columns);

// "17:41:30", in local time.
std::string time_of_day();

// "12000 of 24000 images, 4100 images/s, about 3 s left", as far as the rate is known.
std::string count_text(double done, double all, double per_s, const std::string& unit);

// "about 4 min left", rounded to what an estimate can know. Empty for NaN.
std::string about_left(double seconds);

} // namespace dt::cli
