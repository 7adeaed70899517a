#include "cli/output/count_view.hpp"

#include "cli/output/layout.hpp"
#include "cli/output/pace.hpp"
#include "cli/output/standard_out.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string bar(double fraction, std::size_t width)
{
  if (!std::isfinite(fraction)) fraction = 0;
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
  std::string text = "[";
  text.append(filled, '#').append(width - filled, '.');
  return text + "]";
}

// The nearest multiple of `unit`, at least one.
double rounded(double value, double unit) { return std::max(1.0, std::round(value / unit)) * unit; }

class LiveCount : public CountView {
 public:
  LiveCount(const Terminal& terminal, std::string unit)
      : columns_(terminal.columns == 0 ? 80 : terminal.columns), unit_(std::move(unit))
  {
  }

  void show(double done, double all, double now_s) override
  {
    pace_.add(now_s, done);
    writer_.write("\r" + bar_and_text(done / all, count_text(done, all, pace_.per_s(), unit_), columns_ - 1) + erase_rest);
  }

  void leave() override { writer_.write(std::string("\r") + erase_rest); }

 private:
  static constexpr const char* erase_rest = "\033[K";
  std::size_t columns_;
  std::string unit_;
  StreamWriter writer_{true};
  Pace pace_;
};

class LoggedCount : public CountView {
 public:
  explicit LoggedCount(std::string unit) : unit_(std::move(unit)) {}

  void show(double done, double all, double now_s) override
  {
    pace_.add(now_s, done);
    if (times_.is_due(now_s, false)) writer_.write(time_of_day() + "  " + count_text(done, all, pace_.per_s(), unit_) + "\n");
  }

  void leave() override {}

 private:
  std::string unit_;
  StreamWriter writer_{true};
  Pace pace_;
  LogTimes times_;
};

class NoCount : public CountView {
 public:
  void show(double, double, double) override {}
  void leave() override {}
};

} // namespace

void StreamWriter::write(const std::string& text) const
{
  if (to_stderr_) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    return;
  }
  write_out(text);
  flush_out();
}

std::unique_ptr<CountView> make_count_view(const Terminal& terminal, bool quiet, const std::string& unit)
{
  if (quiet) return std::make_unique<NoCount>();
  if (terminal.is_terminal) return std::make_unique<LiveCount>(terminal, unit);
  return std::make_unique<LoggedCount>(unit);
}

bool LogTimes::is_due(double now_s, bool has_estimate)
{
  constexpr double least_s = 60, share = 0.05;
  if (!begin_s_) begin_s_ = last_s_ = now_s;
  const bool is_first_estimate = has_estimate && !had_estimate_;
  had_estimate_ = had_estimate_ || has_estimate;
  if (!is_first_estimate && now_s - last_s_ < std::max(least_s, share * (now_s - *begin_s_))) return false;
  last_s_ = now_s;
  return true;
}

std::string bar_and_text(double fraction, const std::string& text, std::size_t columns)
{
  constexpr std::size_t least = 10, frame = 3; // brackets and a blank
  const auto taken = display_width(text) + frame;
  const auto width = columns > taken + least ? columns - taken : least;
  return fit(bar(fraction, width) + " " + text, columns);
}

std::string time_of_day() { return format_time_local(now_unix_s()).substr(11); }

std::string count_text(double done, double all, double per_s, const std::string& unit)
{
  auto text = fmt::format("{:.0f} of {:.0f} {}", done, all, unit);
  if (per_s > 0) text += fmt::format(", {:.0f} {}/s, {}", per_s, unit, about_left((all - done) / per_s));
  return text;
}

std::string about_left(double seconds)
{
  constexpr double minute = 60, hour = 3600, day = 86400;
  if (!std::isfinite(seconds)) return "";
  if (seconds < 10) return "a few seconds left";
  if (seconds < 55) return fmt::format("about {:.0f} s left", rounded(seconds, 10));
  if (seconds < 9.5 * minute) return fmt::format("about {:.0f} min left", rounded(seconds, minute) / minute);
  if (seconds < 57.5 * minute) return fmt::format("about {:.0f} min left", rounded(seconds, 5 * minute) / minute);
  if (seconds < 9.75 * hour) return fmt::format("about {:g} h left", rounded(seconds, hour / 2) / hour);
  if (seconds < 47.5 * hour) return fmt::format("about {:.0f} h left", rounded(seconds, hour) / hour);
  return fmt::format("about {:.0f} days left", rounded(seconds, day) / day);
}

} // namespace dt::cli
