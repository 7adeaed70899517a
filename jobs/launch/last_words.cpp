#include "jobs/launch/last_words.hpp"

#include "core/program/printed_text.hpp"
#include "core/text.hpp"
#include "jobs/launch/rank_failure.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

using Lines = std::vector<std::string>;
using Words = std::span<const std::string_view>;

constexpr std::size_t longest_sentence = 300;
constexpr std::size_t mark_length = 6;    // digits of the token
constexpr std::size_t frame_length = 74;  // of Open MPI
constexpr std::size_t longest_block = 45; // lines of one message of Open MPI

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool contains_one(std::string_view text, Words parts)
{
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return contains(text, part); });
}

bool starts_with_one(std::string_view text, Words parts)
{
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return text.starts_with(part); });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool consists_of(std::string_view line, char c, std::size_t least)
{
  return line.size() >= least && line.find_first_not_of(c) == std::string_view::npos;
}

std::string mark(std::string_view token) { return fmt::format(" [job {}]", token.substr(0, mark_length)); }

// ---- one line without what terminals and launchers put around it ------------------------------------------------------

// Removes "[1,0]<stderr>:" (mpirun --tag-output), "[rank0]: " (PyTorch), "[default0]:" (torchrun) and "0: " (srun --label).
std::string_view without_rank(std::string_view line)
{
  constexpr std::size_t longest_tag = 60;
  constexpr std::string_view tag = "<stderr>:";
  if (const auto at = line.substr(0, longest_tag).find(tag); at != std::string_view::npos) line.remove_prefix(at + tag.size());
  for (const std::string_view name : {"[rank", "[default"}) {
    const auto end = line.find_first_not_of("0123456789", name.size());
    if (line.starts_with(name) && end != std::string_view::npos && end > name.size() && line.substr(end).starts_with("]:"))
      line.remove_prefix(line.substr(end).starts_with("]: ") ? end + 3 : end + 2);
  }
  const auto digits = line.find_first_not_of("0123456789");
  if (digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(": ")) line.remove_prefix(digits + 2);
  return line;
}

// A progress bar writes over its line; only the last text of the line stays.
std::string_view last_of_overwritten(std::string_view line)
{
  while (line.ends_with('\r')) line.remove_suffix(1);
  const auto at = line.rfind('\r');
  return at == std::string_view::npos ? line : line.substr(at + 1);
}

Lines plain_lines(std::string_view text)
{
  Lines lines;
  for (const auto& raw : split(text, '\n')) {
    const auto plain = plain_text(last_of_overwritten(raw));
    auto line = without_rank(plain);
    line = line.substr(0, line.find_last_not_of(" \t") + 1); // also if it is empty
    lines.emplace_back(line);
  }
  return lines;
}

std::string shortened(std::string_view line)
{
  if (line.size() <= longest_sentence) return printable(line);
  auto size = longest_sentence;
  while ((static_cast<unsigned char>(line[size]) & 0xC0U) == 0x80U) --size; // not within a character
  return printable(line.substr(0, size)) + "…";
}

// ---- the launcher -----------------------------------------------------------------------------------------------------

// "[host:1234] ": of Open MPI's libraries.
bool has_process_tag(std::string_view line)
{
  const auto end = line.find("] ");
  if (!line.starts_with('[') || end == std::string_view::npos || contains(line.substr(0, end), " ")) return false;
  const auto colon = line.substr(0, end).rfind(':');
  return colon != std::string_view::npos && colon + 1 < end &&
         std::all_of(line.begin() + static_cast<std::ptrdiff_t>(colon) + 1, line.begin() + static_cast<std::ptrdiff_t>(end),
                     is_digit);
}

bool is_launcher_line(std::string_view line)
{
  static constexpr std::array<std::string_view, 15> starts{"dtjob: rank ",
                                                           "[mpiexec@",
                                                           "[proxy:",
                                                           "mpirun: ",
                                                           "mpiexec: ",
                                                           "orterun: ",
                                                           "prterun: ",
                                                           "srun: ",
                                                           "slurmstepd: ",
                                                           "slurmstepd-",
                                                           "ssh: ",
                                                           "PRTE ",
                                                           "Type 'mpirun --help'",
                                                           "Try \"srun ",
                                                           "Host key verification failed."};
  static constexpr std::array<std::string_view, 3> words{"Permission denied (publickey", "torch/distributed/elastic/",
                                                         "torch.distributed.elastic."};
  return !line.starts_with(' ') && (starts_with_one(line, starts) || has_process_tag(line) || contains_one(line, words));
}

// The end of the program, told by its launcher: no cause.
bool is_about_end(std::string_view line)
{
  static constexpr std::array<std::string_view, 14> words{
      "Force Terminated",     "Exited with exit code", "Job step aborted",   "Terminating StepId", "*** STEP ",
      "Type 'mpirun --help'", "Try \"srun ",           "ORTE_ERROR_LOG",     "Set MCA parameter",  "has sent help mess",
      "Received task exit",   "*** Process received",  "Local abort before", "has been allocated"};
  return line.starts_with("dtjob: rank ") || is_task_report(line) || contains_one(line, words);
}

bool is_block_about_end(std::string_view first)
{
  static constexpr std::array<std::string_view, 3> words{" noticed that ", " detected that one or more processes",
                                                         " has exited due to process"};
  static constexpr std::array<std::string_view, 3> others{"Primary job ", "WARNING", "By default, for Open MPI"};
  return starts_with_one(first, others) || contains_one(first, words);
}

// "  Directory: /proc/nope"
bool is_detail(std::string_view line)
{
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos || colon > 20 || line.empty() || line.starts_with("NOTE")) return false;
  return std::isupper(static_cast<unsigned char>(line.front())) != 0 && !trim(line.substr(colon + 1)).empty();
}

std::string joined_blanks(std::string_view text)
{
  std::string joined;
  for (const char c : text)
    if (c != ' ' || !joined.ends_with(' ')) joined += c;
  return joined;
}

// The first sentence of one message of Open MPI, with the details that follow it: "… was unable to find the specified executable
// file (Node: vm, Executable: nosuch)".
std::string sentence_of(std::span<const std::string> block)
{
  std::string first;
  std::size_t i = 0;
  for (; i < block.size() && !trim(block[i]).empty(); ++i) first += (first.empty() ? "" : " ") + std::string(trim(block[i]));
  if (is_block_about_end(first)) return {};
  const bool goes_on = first.ends_with(':') && !contains(first, ". ");
  first = first.substr(0, first.find(". "));
  while (first.ends_with('.') || first.ends_with(':')) first.pop_back();
  std::vector<std::string> details;
  std::string next;
  for (; i < block.size(); ++i) {
    const auto line = trim(block[i]);
    if (is_detail(line) && details.size() < 4) details.push_back(joined_blanks(line));
    if (next.empty()) next = line;
  }
  if (!details.empty()) return fmt::format("{} ({})", first, join(details, ", "));
  return goes_on ? first + ": " + next : first;
}

// ---- the program ------------------------------------------------------------------------------------------------------

// "torch.cuda.OutOfMemoryError: CUDA out of memory" begins with the name of a Python exception.
bool names_exception(std::string_view line)
{
  const auto name = line.substr(0, line.find(':'));
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  if (name.empty() || is_digit(name.front()) || !std::all_of(name.begin(), name.end(), is_of_name)) return false;
  if (name == "Error" || name == "Exception") return false; // too common
  return name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Interrupt") || name.ends_with("Group");
}

bool is_crash(std::string_view line)
{
  static constexpr std::array<std::string_view, 16> starts{"terminate called",
                                                           "free(): ",
                                                           "malloc(): ",
                                                           "realloc(): ",
                                                           "malloc_consolidate(): ",
                                                           "munmap_chunk(): ",
                                                           "double free or ",
                                                           "corrupted size vs",
                                                           "corrupted double-linked",
                                                           "Exception in thread \"",
                                                           "Caused by: ",
                                                           "panic: ",
                                                           "fatal error: ",
                                                           "ERROR STOP",
                                                           "STOP ",
                                                           "Fortran runtime error:"};
  static constexpr std::array<std::string_view, 8> words{" detected ***: ",
                                                         " panicked at ",
                                                         "error while loading shared libraries: ",
                                                         ": command not found",
                                                         ": can't open file '",
                                                         "Lmod has detected the following error",
                                                         "cannot execute: required file not found",
                                                         "cannot execute binary file"};
  const bool is_assertion = contains(line, ": Assertion `") && line.ends_with("failed.");
  return is_assertion || starts_with_one(line, starts) || contains_one(line, words);
}

// Errors that follow from the end of another process.
bool is_aftermath(std::string_view line)
{
  static constexpr std::array<std::string_view, 7> words{"ChildFailedError",
                                                         "CalledProcessError",
                                                         "Connection closed by peer",
                                                         "Connection reset by peer",
                                                         "Broken pipe",
                                                         "Fatal Python error: Aborted",
                                                         "Fatal Python error: Segmentation fault"};
  return contains_one(line, words);
}

bool is_warning(std::string_view line)
{
  static constexpr std::array<std::string_view, 5> words{"warning", "warn(", "[w", "info:", "debug:"};
  return contains_one(lower_case(line), words);
}

// Whether the word stands for more than a figure: "error 0.25" and "errors: 0" are progress.
bool speaks_of(const std::string& line, std::string_view word)
{
  const auto at = line.find(word);
  if (at == std::string::npos) return false;
  const auto next = line.find_first_not_of(" :=s", at + word.size());
  return next == std::string::npos || !is_digit(line[next]);
}

bool is_about_error(std::string_view line)
{
  static constexpr std::array<std::string_view, 25> words{"error",
                                                          "fatal",
                                                          "failed",
                                                          "failure",
                                                          "exception",
                                                          "cannot",
                                                          "can't",
                                                          "could not",
                                                          "couldn't",
                                                          "unable to",
                                                          "not found",
                                                          "no such",
                                                          "denied",
                                                          "refused",
                                                          "invalid",
                                                          "out of memory",
                                                          "no space left",
                                                          "abort",
                                                          "killed",
                                                          "panic",
                                                          "unrecognized",
                                                          "no module named",
                                                          "segmentation fault",
                                                          "bus error",
                                                          "illegal instruction"};
  if (is_warning(line)) return false;
  const auto small = lower_case(line);
  return std::any_of(words.begin(), words.end(), [&](auto word) { return speaks_of(small, word); });
}

// Reads the lines of the program, first to last.
class ProgramErrors {
 public:
  void add(const std::string& line)
  {
    if (trim(line).empty()) return;
    // Exceptions of a group stand behind "  | " and "    | ".
    const bool is_grouped = trim(line).starts_with('|') || trim(line).starts_with('+');
    const auto content = is_grouped ? line.substr(std::min(line.find_first_not_of(" |+-"), line.size())) : line;
    const bool is_indented = content.starts_with(' ') || content.starts_with('\t') || content.empty();
    if (go_on(content)) return;
    if (begins_traceback(content)) return;
    if (in_traceback_ && (is_indented || content.starts_with("File \""))) return;
    if (in_traceback_ || names_exception(content)) return take_exception(content);
    if (contains(content, "terminate called after throwing an instance of '")) return begin_throw(content);
    if (is_crash(content)) return take(content);
    if (is_about_error(content)) suspected_ = content;
    (is_warning(content) ? warning_ : rest_) = content;
  }

  LastWords words() const
  {
    LastWords words;
    words.is_certain = !certain_.empty();
    for (const auto* line : {&certain_, &suspected_, &aftermath_})
      if (words.error.empty()) words.error = shortened(trim(*line));
    words.rest = shortened(trim(rest_.empty() ? warning_ : rest_));
    return words;
  }

 private:
  // The message goes on in this line: "RuntimeError: Error(s) in loading state_dict for Net:", "what():  no data".
  bool go_on(const std::string& line)
  {
    if (open_ == nullptr) return false;
    auto& message = *open_;
    open_ = nullptr;
    const auto text = trim(line);
    const auto type = std::exchange(thrown_type_, {});
    constexpr std::string_view what = "what():";
    if (!type.empty() && !text.starts_with(what)) return false;
    message = type.empty() ? message + " " + std::string(text) : type + ": " + std::string(trim(text.substr(what.size())));
    return true;
  }

  // What is raised while the interpreter ends says nothing about why it ends.
  bool begins_traceback(const std::string& line)
  {
    if (line.starts_with("Exception ignored in") || line.starts_with("Error in sys.excepthook") ||
        line.starts_with("Error in atexit."))
      is_ignored_ = true;
    else if (contains(line, "Traceback (most recent call last)"))
      in_traceback_ = true;
    else
      return false;
    return true;
  }

  void take_exception(const std::string& line)
  {
    in_traceback_ = false;
    if (!is_ignored_) return take(line);
    is_ignored_ = false;
  }

  void take(const std::string& line)
  {
    auto& place = is_aftermath(line) ? aftermath_ : certain_;
    place = line;
    if (line.ends_with(':')) open_ = &place;
  }

  // C++ prints the type, and what() in the next line.
  void begin_throw(const std::string& line)
  {
    const auto begin = line.find('\'') + 1;
    thrown_type_ = line.substr(begin, line.find('\'', begin) - begin);
    certain_ = line;
    open_ = &certain_;
  }

  std::string certain_, suspected_, aftermath_, rest_, warning_;
  std::string* open_ = nullptr; // the message that the next line may continue
  std::string thrown_type_;
  bool in_traceback_ = false, is_ignored_ = false;
};

// ---- who wrote which line ---------------------------------------------------------------------------------------------

enum class Origin { program, launcher, launcher_block, own, note };

struct Sorted {
  Lines lines;
  std::vector<Origin> origins;
  std::vector<std::span<const std::string>> blocks; // messages of the launcher in frames of dashes; they are parts of `lines`
};

bool is_frame(std::string_view line) { return line.size() == frame_length && consists_of(line, '-', frame_length); }

// The last line of the block, which is its frame unless the text is cut off. Nothing if the dashes do not frame a message of the
// launcher.
std::optional<std::size_t> end_of_block(const Lines& lines, std::size_t begin)
{
  for (auto i = begin + 1; i < lines.size(); ++i) {
    if (is_frame(lines[i])) return i > begin + 1 ? std::optional(i) : std::nullopt;
    if (lines[i].starts_with("Traceback ") || i > begin + longest_block) return std::nullopt;
  }
  return begin + 1 < lines.size() ? std::optional(lines.size() - 1) : std::nullopt;
}

// torchrun's report of a failed rank: from its own exception to the second line of "=".
std::size_t end_of_torchrun_report(const Lines& lines, std::size_t begin)
{
  int rules = 0;
  for (auto i = begin; i < lines.size(); ++i)
    if (consists_of(lines[i], '=', 40) && ++rules == 2) return i;
  return begin;
}

Sorted sorted(std::string_view text, std::string_view token)
{
  Sorted all{plain_lines(text), {}, {}};
  const auto& lines = all.lines;
  all.origins.assign(lines.size(), Origin::program);
  const auto own = mark(token);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto end = i;
    if (is_frame(lines[i])) {
      if (const auto found = end_of_block(lines, i)) {
        end = *found;
        all.blocks.push_back(std::span(lines).subspan(i + 1, end - i - (is_frame(lines[end]) ? 1 : 0)));
      }
    } else if (lines[i].starts_with("torch.distributed.elastic.") && contains(lines[i], "ChildFailedError")) {
      end = end_of_torchrun_report(lines, i);
    } else if (!token.empty() && lines[i].starts_with("dtctl: ") && lines[i].ends_with(own)) {
      all.origins[i] = lines[i].starts_with("dtctl: note: ") ? Origin::note : Origin::own;
    } else if (is_launcher_line(lines[i])) {
      all.origins[i] = Origin::launcher;
    }
    if (end == i) continue;
    std::fill(all.origins.begin() + static_cast<std::ptrdiff_t>(i), all.origins.begin() + static_cast<std::ptrdiff_t>(end) + 1,
              Origin::launcher_block);
    i = end;
  }
  return all;
}

// What an MPI call has reported: "*** An error occurred in MPI_Send" and, two lines on, "*** MPI_ERR_RANK: invalid rank".
std::string mpi_error(const Sorted& all)
{
  std::string call, error;
  for (std::size_t i = 0; i < all.lines.size(); ++i) {
    const auto& line = all.lines[i];
    const auto at = line.find("] *** ");
    if (all.origins[i] != Origin::launcher || at == std::string::npos) continue;
    const auto text = line.substr(at + 6);
    if (text.starts_with("An error occurred in ") && call.empty()) call = text;
    if (text.starts_with("MPI_ERR_") && error.empty()) error = text;
  }
  return call.empty() || error.empty() ? call + error : call + ": " + error;
}

std::string launcher_words(const Sorted& all)
{
  for (std::size_t i = 0; i < all.lines.size(); ++i) {
    const auto& line = all.lines[i];
    if (all.origins[i] != Origin::launcher || has_process_tag(line)) continue;
    if (is_about_error(line) && !is_about_end(line)) return std::string(trim(line));
  }
  for (const auto& block : all.blocks)
    if (auto sentence = sentence_of(block); !sentence.empty()) return sentence;
  return mpi_error(all);
}

// Open MPI 4.1 sometimes damages a message that a rank sends to mpirun. mpirun then prints lines of ORTE_ERROR_LOG in its place.
std::string error_of_runtime(const Sorted& all)
{
  constexpr std::string_view log = "ORTE_ERROR_LOG: ";
  for (const auto& line : all.lines)
    if (has_process_tag(line) && contains(line, log)) return "mpirun printed only " + line.substr(line.find(log));
  return {};
}

// Without "dtctl: " and the mark. A line with an exit code is about the end of the job, and the last one counts.
std::string own_words(const Sorted& all, std::string_view token)
{
  std::string first, end;
  for (std::size_t i = 0; i < all.lines.size(); ++i) {
    if (all.origins[i] != Origin::own) continue;
    auto line = all.lines[i].substr(7);
    line.resize(line.size() - mark(token).size());
    if (line.ends_with(')') && contains(line, " (exit code ")) end = line;
    if (first.empty()) first = line;
  }
  return end.empty() ? first : end;
}

} // namespace

std::string own_line(std::string_view token, std::string_view what, std::optional<int> code)
{
  return fmt::format("dtctl: {}{}{}\n", printable(what), code ? fmt::format(" (exit code {})", *code) : "",
                     token.empty() ? "" : mark(token));
}

std::string own_note(std::string_view token, std::string_view what) { return own_line(token, "note: " + std::string(what)); }

LastWords last_words(std::string_view text, std::string_view token)
{
  const auto all = sorted(text, token);
  ProgramErrors errors;
  for (std::size_t i = 0; i < all.lines.size(); ++i)
    if (all.origins[i] == Origin::program) errors.add(all.lines[i]);
  auto words = errors.words();
  words.launcher = shortened(launcher_words(all));
  words.own = printable(own_words(all, token)); // whole: it may end with the exit code
  const bool says_nothing = words.error.empty() && words.launcher.empty() && words.own.empty() && words.rest.empty();
  if (says_nothing) words.launcher = shortened(error_of_runtime(all));
  return words;
}

std::vector<std::string> program_lines(std::string_view text, std::string_view token)
{
  auto all = sorted(text, token);
  Lines lines;
  for (std::size_t i = 0; i < all.lines.size(); ++i)
    if (all.origins[i] == Origin::program && !all.lines[i].empty()) lines.push_back(all.lines[i]);
  return lines.empty() ? std::move(all.lines) : lines;
}

} // namespace dt::jobs
