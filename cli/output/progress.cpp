#include "cli/output/progress.hpp"

#include "cli/output/layout.hpp"
#include "cli/output/output.hpp"
#include "cli/output/run_tables.hpp"
#include "cli/output/standard_out.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

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
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
  std::string text = "[";
  text.append(filled, '#').append(width - filled, '.');
  return text + "]";
}

// Sort order: running, waiting, ended.
int rank_of(const RunView& run)
{
  if (run.row.state == RunState::running || run.row.state == RunState::suspended) return 0;
  return is_final(run.row.state) ? 2 : 1;
}

class LiveView : public ProgressView {
 public:
  LiveView(const Terminal& terminal, bool to_stderr) : terminal_(terminal), to_stderr_(to_stderr), writer_(to_stderr) {}

  void show(const std::vector<RunView>& runs) override
  {
    const auto clear = follow_size() ? clear_screen() : erase();
    const auto columns = terminal_.columns == 0 ? 80 : terminal_.columns;
    std::string text = fit(headline(runs), columns - 1) + "\n";
    auto shown = runs;
    std::stable_sort(shown.begin(), shown.end(), [](const RunView& a, const RunView& b) { return rank_of(a) < rank_of(b); });
    const std::size_t room = terminal_.rows > 8 ? terminal_.rows - 4 : 4;
    const auto hidden = shown.size() > room ? shown.size() - room : 0;
    shown.resize(shown.size() - hidden);
    text += layout(status_table(shown), columns - 1,
                   [this](std::string_view part, Style style) { return painted(part, style, terminal_.colour); });
    if (hidden > 0) text += fmt::format("and {} more\n", hidden);
    writer_.write(clear + text);
    lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  void leave() override { lines_ = 0; }

 private:
  std::string headline(const std::vector<RunView>& runs) const
  {
    const double total = static_cast<double>(runs.size());
    return fmt::format("{} {}  {}", bar(total > 0 ? done_runs(runs) / total : 1, 24), format_time_local(now_unix_s()).substr(11),
                       summary(runs));
  }

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

  void show(const std::vector<RunView>& runs) override
  {
    for (const auto& run : runs) {
      const auto [seen, is_new] = last_.try_emplace(run.row.key, run.row.state);
      if (!is_new && seen->second == run.row.state) continue;
      seen->second = run.row.state;
      writer_.write(line_of(run));
    }
  }

  void leave() override {}

 private:
  static std::string line_of(const RunView& run)
  {
    const auto cause = run.row.cause.empty() ? "" : ": " + run.row.cause;
    return fmt::format("{}  {}  {:<9}  {}{}\n", format_time_local(now_unix_s()).substr(11), short_key(run.row.key),
                       name_of(run.row.state), printable(run.row.name), printable(cause));
  }

  Writer writer_;
  std::map<std::string, RunState> last_;
};

class NoView : public ProgressView {
 public:
  void show(const std::vector<RunView>&) override {}
  void leave() override {}
};

} // namespace

std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet)
{
  if (quiet) return std::make_unique<NoView>();
  if (terminal.is_terminal) return std::make_unique<LiveView>(terminal, to_stderr);
  return std::make_unique<LineView>(to_stderr);
}

} // namespace dt::cli
