#include "cli/follow/progress.hpp"

#include "cli/follow/remaining_time.hpp"
#include "cli/output/layout.hpp"
#include "cli/output/output.hpp"
#include "cli/runs/run_tables.hpp"
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
  StreamWriter writer_;
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

  StreamWriter writer_;
  std::map<std::string, RunState> last_;
  LogTimes times_;
};

class NoView : public ProgressView {
 public:
  void show(const std::vector<RunView>&, double) override {}
  void leave() override {}
};

} // namespace

std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet)
{
  if (quiet) return std::make_unique<NoView>();
  if (terminal.is_terminal) return std::make_unique<LiveView>(terminal, to_stderr);
  return std::make_unique<LineView>(to_stderr);
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

} // namespace dt::cli
