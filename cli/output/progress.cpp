#include "cli/output/progress.hpp"

#include "cli/output/layout.hpp"
#include "cli/output/output.hpp"
#include "cli/output/run_tables.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/runs/time_left/pace.hpp"
#include "cli/runs/time_left/remaining_time.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::cli {
namespace {

class Writer {
 public:
  explicit Writer(bool to_stderr) : to_stderr_(to_stderr) {}
  void write(const std::string& text) const
  {
    if (to_stderr_) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      return;
    }
    write_out(text);
    flush_out();
  }

 private:
  bool to_stderr_;
};

// Number of ended runs, plus the completed fractions of running ones.
double done_runs(const std::vector<RunView>& runs)
{
  double done = 0;
  for (const auto& run : runs) {
    const double fraction = fraction_done(run);
    if (is_final(run.row.state))
      done += 1;
    else if ((run.row.state == RunState::running || run.row.state == RunState::suspended) && std::isfinite(fraction))
      done += fraction;
  }
  return done;
}

std::string bar(double fraction, std::size_t width)
{
  if (!std::isfinite(fraction)) fraction = 0;
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
  std::string text = "[";
  text.append(filled, '#').append(width - filled, '.');
  return text + "]";
}

// A bar that fills what the text leaves of the columns, then the text; the whole is cut if it is longer.
std::string bar_and_text(double fraction, const std::string& text, std::size_t columns)
{
  constexpr std::size_t least = 10, frame = 3; // brackets and a blank
  const auto taken = display_width(text) + frame;
  const auto width = columns > taken + least ? columns - taken : least;
  return fit(bar(fraction, width) + " " + text, columns);
}

std::string time_of_day() { return format_time_local(now_unix_s()).substr(11); }

// Sort order: running, waiting, ended.
int rank_of(const RunView& run)
{
  if (run.row.state == RunState::running || run.row.state == RunState::suspended) return 0;
  return is_final(run.row.state) ? 2 : 1;
}

// On a narrow terminal what a run waits for leaves before the step that it has reached.
Table live_table(const std::vector<RunView>& runs)
{
  auto table = status_table(runs);
  for (auto& column : table.columns) {
    if (column.name == "progress") column.drop = 0;
    if (column.name == "cause") column.drop = 1;
  }
  return table;
}

class LiveView : public ProgressView {
 public:
  LiveView(const Terminal& terminal, bool to_stderr) : terminal_(terminal), to_stderr_(to_stderr), writer_(to_stderr) {}

  void show(const std::vector<RunView>& runs, double left_s) override
  {
    const auto clear = follow_size() ? clear_screen() : erase();
    const auto columns = terminal_.columns == 0 ? 80 : terminal_.columns;
    std::string text = headline(runs, left_s, time_of_day(), columns - 1) + "\n";
    auto shown = runs;
    std::stable_sort(shown.begin(), shown.end(), [](const RunView& a, const RunView& b) { return rank_of(a) < rank_of(b); });
    // Beside the runs: headline, titles, a note on columns that were left out (up to two lines), "and N more", the cursor's line.
    const std::size_t room = terminal_.rows > 10 ? terminal_.rows - 7 : 3;
    const auto hidden = shown.size() > room ? shown.size() - room : 0;
    shown.resize(shown.size() - hidden);
    text += layout(live_table(shown), columns - 1,
                   [this](std::string_view part, Style style) { return painted(part, style, terminal_.colour); });
    if (hidden > 0) text += fmt::format("and {} more\n", hidden);
    writer_.write(clear + text);
    lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  void leave() override { lines_ = 0; }

 private:
  // Moves to the beginning of the last drawing and erases everything below.
  std::string erase() const { return lines_ == 0 ? "" : fmt::format("\033[{}A\r\033[J", lines_); }

  // Updates the terminal's size. Returns true if it has changed since the last drawing: its lines may then have been wrapped, so
  // that they cannot be counted.
  bool follow_size()
  {
    const auto now = describe_terminal(to_stderr_ ? STDERR_FILENO : STDOUT_FILENO);
    const bool other = now.columns != terminal_.columns || now.rows != terminal_.rows;
    terminal_.columns = now.columns;
    terminal_.rows = now.rows;
    return other && lines_ > 0;
  }

  static std::string clear_screen() { return "\033[H\033[2J"; }

  Terminal terminal_;
  bool to_stderr_;
  Writer writer_;
  std::size_t lines_ = 0;
};

class LineView : public ProgressView {
 public:
  explicit LineView(bool to_stderr) : writer_(to_stderr) {}

  void show(const std::vector<RunView>& runs, double left_s) override
  {
    show_changes(runs);
    const double now = now_unix_s();
    if (!times_.is_due(now, std::isfinite(left_s))) return;
    if (const auto line = log_line(runs, left_s, now); !line.empty()) writer_.write(time_of_day() + "  " + line + "\n");
  }

  void leave() override {}

 private:
  void show_changes(const std::vector<RunView>& runs)
  {
    for (const auto& run : runs) {
      const auto [seen, is_new] = last_.try_emplace(run.row.key, run.row.state);
      if (!is_new && seen->second == run.row.state) continue;
      seen->second = run.row.state;
      writer_.write(line_of(run));
    }
  }

  static std::string line_of(const RunView& run)
  {
    const auto cause = run.row.cause.empty() ? "" : ": " + run.row.cause;
    return fmt::format("{}  {}  {:<9}  {}{}\n", time_of_day(), short_key(run.row.key), name_of(run.row.state),
                       printable(run.row.name), printable(cause));
  }

  Writer writer_;
  std::map<std::string, RunState> last_;
  LogTimes times_;
};

class NoView : public ProgressView {
 public:
  void show(const std::vector<RunView>&, double) override {}
  void leave() override {}
};

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
  Writer writer_{true};
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
  Writer writer_{true};
  Pace pace_;
  LogTimes times_;
};

class NoCount : public CountView {
 public:
  void show(double, double, double) override {}
  void leave() override {}
};

} // namespace

std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet)
{
  if (quiet) return std::make_unique<NoView>();
  if (terminal.is_terminal) return std::make_unique<LiveView>(terminal, to_stderr);
  return std::make_unique<LineView>(to_stderr);
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

std::string headline(const std::vector<RunView>& runs, double left_s, const std::string& now, std::size_t columns)
{
  const double total = static_cast<double>(runs.size());
  const auto left = about_left(left_s);
  const auto text = fmt::format("{}  {}{}", now, left.empty() ? "" : left + "  ", summary(runs));
  return bar_and_text(total > 0 ? done_runs(runs) / total : 1, text, columns);
}

std::string log_line(const std::vector<RunView>& runs, double left_s, double now_unix_s)
{
  if (runs.size() == 1) {
    const auto progress = progress_text(runs.front(), now_unix_s);
    return progress.empty() ? "" : fmt::format("{}  {}", short_key(runs.front().row.key), progress);
  }
  std::vector<RunView> open;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(open), [](const RunView& run) { return !is_final(run.row.state); });
  if (open.empty()) return "";
  const auto left = about_left(left_s);
  return fmt::format("{} of {} runs ended, {}{}{}", runs.size() - open.size(), runs.size(), states_text(open),
                     left.empty() ? "" : ", ", left);
}

std::string count_text(double done, double all, double per_s, const std::string& unit)
{
  auto text = fmt::format("{:.0f} of {:.0f} {}", done, all, unit);
  if (per_s > 0) text += fmt::format(", {:.0f} {}/s, {}", per_s, unit, about_left((all - done) / per_s));
  return text;
}

} // namespace dt::cli
