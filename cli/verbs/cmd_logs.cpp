// dtctl logs: shows the output of a run.
#include "cli/command/interrupt.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/program/printed_text.hpp"
#include "core/text.hpp"
#include "jobs/attempts/attempts.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <unistd.h>

namespace dt::cli {
namespace {

struct LogsOptions {
  Selector selector;
  bool follow = false;
  int attempt = 0;       // 0: the latest
  std::size_t lines = 0; // 0: all
};

std::string last_lines(const std::string& text, std::size_t count)
{
  if (count == 0 || text.empty()) return text;
  std::size_t begin = text.size() - (text.back() == '\n' ? 1 : 0);
  for (std::size_t found = 0; begin > 0; --begin)
    if (text[begin - 1] == '\n' && ++found == count) break;
  return text.substr(begin);
}

// Returns what was appended to a file since the last call.
class Tail {
 public:
  explicit Tail(std::filesystem::path path) : path_(std::move(path)) {}
  std::string gained()
  {
    const auto file = open_if_exists(path_);
    if (!file.is_open()) return {};
    std::string text;
    std::array<char, 65536> block;
    for (ssize_t got = 0; (got = ::pread(file.get(), block.data(), block.size(), offset_)) > 0; offset_ += got)
      text.append(block.data(), static_cast<std::size_t>(got));
    // The beginning of a character whose other bytes are not written yet is left for the next call.
    auto end = text.size();
    while (end > 0 && text.size() - end < 3 && (text[end - 1] & 0xC0) == 0x80) --end;
    if (end > 0 && (text[end - 1] & 0xC0) == 0xC0 && !is_valid_utf8(std::string_view(text).substr(end - 1))) {
      offset_ -= static_cast<off_t>(text.size() - (end - 1));
      text.resize(end - 1);
    }
    return text;
  }

 private:
  std::filesystem::path path_;
  off_t offset_ = 0;
};

// Prints streams as they grow, in whole lines. The last line of a stream, which may be a progress bar, is drawn again on a
// terminal when it changes; elsewhere it is printed when it ends.
class Followed {
 public:
  Followed(const Terminal& terminal, const AttemptFolder& attempt)
      : terminal_(terminal), streams_{{{Tail(attempt.out()), {}}, {Tail(attempt.err()), {}}}}
  {
  }

  void look(bool is_last)
  {
    for (auto& stream : streams_) {
      const auto gained = stream.tail.gained();
      if (gained.empty() && !(is_last && !stream.rest.empty())) continue;
      stream.rest += gained;
      const auto end = is_last ? stream.rest.size() : stream.rest.rfind('\n') + 1;
      if (end > 0) print(stream.rest.substr(0, end));
      stream.rest.erase(0, end);
      draw(stream.rest);
    }
    flush_out();
  }

 private:
  struct Stream {
    Tail tail;
    std::string rest; // of the last line
  };

  void print(const std::string& text)
  {
    clear();
    write_out(printable_lines(shown_text(text)));
  }

  void draw(const std::string& line)
  {
    if (!terminal_.is_terminal || line.empty()) return;
    clear();
    auto shown = printable(shown_text(line));
    if (terminal_.columns > 1 && shown.size() >= terminal_.columns) {
      shown.resize(terminal_.columns - 1);
      while (!is_valid_utf8(shown)) shown.pop_back();
    }
    write_out(shown);
    is_drawn_ = true;
  }

  void clear()
  {
    if (std::exchange(is_drawn_, false)) write_out("\r\x1b[K");
  }

  const Terminal& terminal_;
  std::array<Stream, 2> streams_;
  bool is_drawn_ = false;
};

AttemptFolder attempt_of(const Home& home, const RunView& run, int wanted)
{
  const auto numbers = attempt_numbers(home.run(run.row.key));
  const auto name = printable(run.row.name);
  if (numbers.empty()) throw Error(ErrorKind::usage, name + " has not been submitted yet, so it has no logs");
  if (wanted != 0 && std::find(numbers.begin(), numbers.end(), wanted) == numbers.end())
    throw Error(ErrorKind::usage,
                name + " has attempts 1 to " + std::to_string(numbers.back()) + ", not " + std::to_string(wanted));
  return {home.run(run.row.key), wanted == 0 ? numbers.back() : wanted};
}

// Prints both streams as they grow, until the run is final.
void follow(Context& context, const Home& home, const std::string& key, const AttemptFolder& attempt)
{
  const Interrupt interrupt;
  Followed streams(context.terminal, attempt);
  const std::vector<std::string> keys{key};
  constexpr int looks_a_question = 10; // the scheduler is asked less often than the files
  int looks_until_asked = 0;
  for (bool last_look = false; !reader_left();) {
    streams.look(last_look);
    if (last_look) return;
    if (std::exchange(looks_until_asked, looks_until_asked - 1) == 0 || read_end(attempt)) {
      std::vector<std::string> troubles; // ignored: if the scheduler cannot be reached, the files will show the end
      const auto status = jobs::reconcile(home, keys, &troubles).front();
      last_look = is_final(status.verdict.state) || status.attempt != attempt.number();
      looks_until_asked = looks_a_question;
    }
    if (!last_look) interrupt.sleep_s(0.3);
    if (interrupt.signal() == 0) continue;
    context.messages.info("Detached; the job keeps running.");
    interrupt.obey();
  }
}

ExitCode logs(Context& context, const LogsOptions& options)
{
  if (options.follow && context.json)
    throw Error(ErrorKind::usage, "--follow prints while the run goes on, and --json prints one value; give one of them");
  ResultsStore results(context);
  const auto run = select_newest(context, results, options.selector, [](const RunView&) { return true; });
  const auto attempt = attempt_of(results.home(), run, options.attempt);
  context.out.data("key", run.row.key);
  context.out.data("attempt", attempt.number());
  context.out.data("state", name_of(run.row.state));
  if (options.follow) {
    follow(context, results.home(), run.row.key, attempt);
    return ExitCode::ok;
  }
  // What is shown goes through a pipe, too: `less` or `watch` may show it on a terminal.
  const auto read = [&](const std::filesystem::path& file) {
    auto text = read_file_if_exists(file).value_or("");
    return last_lines(context.json ? text : shown_text(text), options.lines);
  };
  const auto shown = [&](const std::string& text) { return context.json ? text : printable_lines(text); };
  const auto out = read(attempt.out()), err = read(attempt.err());
  context.out.block("stdout", shown(out));
  context.out.block("stderr", shown(err));
  if (!out.empty() || !err.empty()) return ExitCode::ok;
  const auto submission = read_submission(attempt);
  const auto log = submission ? jobs::job_log_path(attempt, *submission) : std::filesystem::path();
  const auto of_job = log.empty() ? "" : read(log);
  context.messages.info("{} {} ({}){}", printable(run.row.name),
                        is_final(run.row.state) ? "printed nothing" : "has printed nothing yet", name_of(run.row.state),
                        of_job.empty() ? "" : "; this is the log of its job: " + printable(log.string()));
  if (!of_job.empty()) context.out.block("job_log", shown(of_job));
  return ExitCode::ok;
}

} // namespace

void add_logs(Commands& commands)
{
  auto options = std::make_shared<LogsOptions>();
  auto& verb = commands.add(
      {"logs", follow_verbs, "Print the output of a run: standard output, then standard error.",
       "Of a study, prints the run that began last. Progress bars are shown in their last state, without colours;\n"
       "other control characters are printed as \\x1b, so that the program's output cannot change the\n"
       "terminal. The files themselves are stdout and stderr in the attempt's folder.\n\nExample:\n  dtctl logs -f 3f2a"},
      [options](Context& context) { return logs(context, *options); });
  add_selector(verb, options->selector);
  verb.add_flag("-f,--follow", options->follow, "print new output until the run has ended");
  verb.add_option("--attempt", options->attempt, "number of the attempt; default: the latest")
      ->type_name("N")
      ->check(positive_number());
  verb.add_option("-n,--lines", options->lines, "print only the last N lines of each stream")
      ->type_name("N")
      ->check(positive_number());
}

} // namespace dt::cli
