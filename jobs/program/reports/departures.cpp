#include "jobs/program/reports/departures.hpp"

#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/record/measuring/node_load.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

std::uintmax_t bytes_of(const fs::path& file)
{
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

// Processor time of the process and its children, and the time for which its threads have waited for a core on a busy machine.
double wanted_processor_s(int process)
{
  double queued_s = 0;
  std::error_code none;
  const auto threads = fs::path("/proc") / std::to_string(process) / "task";
  for (fs::directory_iterator thread(threads, none), end; !none && thread != end; thread.increment(none)) {
    const auto words = split(read_file_if_exists(thread->path() / "schedstat").value_or(""), ' ');
    if (words.size() == 3) queued_s += number_of<double>(words[1]).value_or(0) * 1e-9;
  }
  return processor_time_of_tree(process).value_or(0) + queued_s;
}

std::string words_of_step(std::int64_t step)
{
  return step > 0 ? fmt::format("at step {}", step) : std::string("before its first step");
}

} // namespace

bool Departures::is_here(const Rank& rank) const { return rank.start.host == host_name(); }

// A launcher that starts a rank again gives it another process, which its report tells.
bool Departures::is_over(std::size_t number, Rank& rank) const
{
  if (!is_here(rank)) return is_there(left_file(attempt_, number));
  return rank.process > 0 && !identify_process(rank.process);
}

// Reads the whole report of a rank, if it has grown.
void Departures::read_report(std::size_t number, Rank& rank) const
{
  const auto path = report_file(attempt_, number);
  const auto bytes = bytes_of(path);
  if (std::exchange(rank.report_bytes, bytes) == bytes) return;
  RankReport report;
  for (const auto& line : LineTail(path).next()) report.take(parse_report_line(line));
  rank.step = report.steps.empty() ? 0 : report.steps.back().step;
  rank.has_word = report.result || report.error;
  if (report.worker) rank.process = report.worker->pid;
}

void Departures::look(const std::map<std::size_t, RankLine>& started, bool has_root_result)
{
  const auto now = Clock::now();
  if (now - looked_ < std::chrono::milliseconds(200)) return;
  looked_ = now;
  for (const auto& [number, line] : started) {
    auto& rank = ranks_[number];
    rank.start = line;
    if (rank.process == 0 && !spec_.has_own_launcher()) rank.process = line.pid;
    if (spec_.has_own_launcher()) read_report(number, rank);
    if (!is_over(number, rank)) {
      rank.left.reset();
      continue;
    }
    read_report(number, rank);
    if (spec_.has_own_launcher() && !is_over(number, rank)) continue;
    if (number == 0) rank.has_word = rank.has_word || has_root_result;
    if (!rank.left) rank.left = now;
  }
  look_at_those_who_stay();
}

void Departures::look_at_those_who_stay()
{
  if (first_left() == nullptr) return;
  std::uintmax_t written = 0;
  busy_s_ = 0;
  for (const auto& [number, rank] : ranks_) {
    written += bytes_of(report_file(attempt_, number));
    if (is_here(rank) && !rank.left) busy_s_ += wanted_processor_s(rank.process);
  }
  const auto output = attempt_.path_of(AttemptFile::output);
  written += bytes_of(output / "stdout") + bytes_of(output / "stderr");
  if (written == std::exchange(written_, written)) return;
  last_word_ = looked_;
  busy_at_word_s_ = busy_s_;
}

// The first rank that has ended and told neither a result nor an error.
const std::pair<const std::size_t, Departures::Rank>* Departures::first_left() const
{
  const std::pair<const std::size_t, Rank>* first = nullptr;
  for (const auto& rank : ranks_) {
    if (!rank.second.left || rank.second.has_word) continue;
    if (first == nullptr || *rank.second.left < *first->second.left) first = &rank;
  }
  return first;
}

// mpirun, srun and dtjob tell of another exit code; what a launcher of the program tells is its own affair.
std::string Departures::ending_of(const Rank& rank) const
{
  return (spec_.has_own_launcher() ? "ended without a result " : "ended with exit code 0 without a result ") +
         words_of_step(rank.step);
}

MissingRank Departures::words_of(std::size_t number, const Rank& rank) const
{
  return {static_cast<int>(number), rank.start.host, "has " + ending_of(rank)};
}

std::optional<MissingRank> Departures::left_before(int other) const
{
  const auto* left = first_left();
  const auto found = ranks_.find(static_cast<std::size_t>(other));
  if (left == nullptr || found == ranks_.end()) return std::nullopt;
  const auto& end = found->second.left;
  return !end || *left->second.left < *end ? std::optional(words_of(left->first, left->second)) : std::nullopt;
}

std::vector<MissingRank> Departures::missing() const
{
  std::vector<MissingRank> missing;
  const bool has_others = std::ranges::any_of(ranks_, [](const auto& rank) { return !rank.second.left; });
  for (const auto& [number, rank] : ranks_)
    if (has_others && rank.left && !rank.has_word) missing.push_back(words_of(number, rank));
  return missing;
}

std::string Departures::cause(bool is_at_limit) const
{
  const auto* left = first_left();
  if (left == nullptr) return {};
  std::vector<std::string> waiting;
  std::size_t here = 0;
  for (const auto& [number, rank] : ranks_) {
    if (rank.left) continue;
    waiting.push_back(std::to_string(number));
    here += is_here(rank) ? 1 : 0;
  }
  if (waiting.empty()) return {};
  const double silent_s = std::chrono::duration<double>(looked_ - std::max(last_word_, *left->second.left)).count();
  constexpr double most_busy = 0.05; // of a core: less than any training or evaluation, more than a loop that polls
  const bool is_idle = here > 0 && busy_s_ - busy_at_word_s_ <= most_busy * silent_s * static_cast<double>(here);
  const auto limit_s = static_cast<double>(spec_.train.stall_after_s);
  const bool is_long = limit_s > 0 && silent_s >= std::max(limit_s, 2.0);
  const bool is_certain = is_at_limit ? is_long || (is_idle && silent_s >= 2) : is_long && is_idle;
  if (!is_certain) return {};
  const auto who = waiting.size() == 1   ? "rank " + waiting.front()
                   : waiting.size() <= 4 ? "ranks " + join(waiting, ", ")
                                         : counted(waiting.size(), "other rank");
  return fmt::format("rank {} {}, and {} waited for it", left->first, ending_of(left->second), who);
}

bool tells_lost_peer(std::string_view cause)
{
  constexpr std::array<std::string_view, 5> words{"Connection reset by peer", "Connection closed by peer", "Broken pipe",
                                                  "remote process exited", "Socket closed"};
  return std::ranges::any_of(words, [&](std::string_view word) { return cause.find(word) != std::string_view::npos; });
}

fs::path left_file(const AttemptFolder& attempt, std::size_t rank)
{
  return attempt.path_of(AttemptFile::reports) / fmt::format("left-{}", rank);
}

} // namespace dt::jobs
