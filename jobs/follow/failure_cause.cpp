#include "jobs/follow/failure_cause.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/rank_failure.hpp"
#include "jobs/program/rank_program.hpp"
#include "jobs/program/reports/departures.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

using Cause = std::optional<FailureCause>;

FailureCause cause(std::string_view kind, std::string text, std::string host = {}, int rank = -1)
{
  return {std::string(kind), rank, std::move(host), std::move(text)};
}

// The signal that ended a process: shells report exit code 128 + n after signal n. Returns 0 for other exit codes.
int signal_in(int code) { return code > 128 && code < 128 + 65 ? code - 128 : 0; }

std::string killed_by(int signal)
{
  return signal == 9 ? "SIGKILL (by hand, or by the kernel when memory ran out)" : signal_name(signal);
}

LastWords words_of(const Evidence& e) { return last_words(e.standard_error, e.submission ? e.submission->token : ""); }

// ---- what became of a rank ---------------------------------------------------------------------------------------------

// The node of the failed rank; empty if nobody has told it.
std::string host_of(const RankFailure& failure, const Evidence& e)
{
  if (!failure.host.empty()) return printable(failure.host);
  const auto rank = failure.first_rank();
  if (!rank || !e.begin || *rank < 0 || std::cmp_greater_equal(*rank, e.begin->rank_hosts.size())) return {};
  return printable(e.begin->rank_hosts[static_cast<std::size_t>(*rank)]);
}

// "rank 1 on node1", "ranks 0-1 on node0", "a rank on node1"
std::string rank_words(const RankFailure& failure, const std::string& host)
{
  const auto ranks = failure.ranks.empty() ? std::string("a rank") : (failure.are_several() ? "ranks " : "rank ") + failure.ranks;
  return ranks + (host.empty() ? "" : " on " + host);
}

// `words`: what the rank said last; may be empty.
FailureCause end_of_rank(const RankFailure& failure, const Evidence& e, const std::string& words)
{
  const auto host = host_of(failure, e);
  const auto who = rank_words(failure, host);
  const auto tail = words.empty() ? "" : ": " + words;
  const int rank = failure.first_rank().value_or(-1);
  if (failure.out_of_memory) return cause(cause_kind::memory, who + " ran out of the memory that the job has" + tail, host, rank);
  if (failure.is_abort)
    return cause(cause_kind::rank_abort, fmt::format("{} called MPI_Abort with the code {}{}", who, failure.code, tail), host,
                 rank);
  const int signal = failure.signal > 0 ? failure.signal : signal_in(failure.code);
  if (signal > 0) {
    const auto* verb = failure.are_several() ? "were" : "was";
    return cause(cause_kind::rank_killed, fmt::format("{} {} killed by {}{}", who, verb, killed_by(signal), tail), host, rank);
  }
  return cause(cause_kind::rank_exit, fmt::format("{} ended with exit code {}{}", who, failure.code, tail), host, rank);
}

// Whether the program is a launcher that has started the ranks (program.launch).
bool has_own_launcher(const Evidence& e) { return e.begin && e.begin->environment.contains(std::string(own_launcher)); }

// The launcher's report about the rank that failed first. The exit code of a run with one rank is that rank's.
std::optional<RankFailure> failure_of_rank(const Evidence& e)
{
  if (auto failure = failure_by_torchrun(e.standard_error)) return failure;
  if (has_own_launcher(e)) return std::nullopt; // the processes of mpirun and srun are not the ranks
  auto failure = rank_failure(e.standard_error);
  if (!failure) failure = rank_failure(e.standard_output); // hydra reports there
  const bool is_only_code = failure && failure->signal == 0 && !failure->is_abort && !failure->out_of_memory;
  if (is_only_code && e.begin && e.begin->rank_hosts.size() == 1) return std::nullopt;
  return failure;
}

// ---- the exit code of the job --------------------------------------------------------------------------------------------

// Whether dtctl's own line says what ended the job: it then ends with the exit code.
bool tells_end(const LastWords& words, int code) { return words.own.ends_with(fmt::format("(exit code {})", code)); }

// dtctl's own line. Of ranks that ended with exit code 0 but left no result, the line tells that code, and the job's is left out.
std::string end_in_words(const LastWords& words, int code)
{
  const bool tells_code_of_ranks = words.own.find(" ended with exit code 0") != std::string::npos;
  const auto tail = fmt::format(" (exit code {})", code);
  return tells_code_of_ranks ? words.own.substr(0, words.own.size() - tail.size()) : words.own;
}

// What the program says comes first, then its launcher, then dtctl.
std::string exit_words(int code, const LastWords& words)
{
  if (tells_end(words, code)) return end_in_words(words, code) + (words.is_certain ? ": " + words.error : "");
  std::string told;
  for (const auto* text : {&words.error, &words.launcher, &words.own, &words.rest})
    if (told.empty()) told = *text;
  const auto tail = told.empty() ? std::string(", and nothing was printed on standard error") : ": " + told;
  if (code == static_cast<int>(ExitCode::environment) && told.empty())
    return fmt::format("exit code {}, and nothing could be written: the disk of the home may have been full, or a quota used up",
                       code);
  if (code == 0) return "the ranks ended with exit code 0 but left no result" + (told.empty() ? "" : tail);
  if (signal_in(code) > 0) return "ended by " + killed_by(signal_in(code)) + (told.empty() ? "" : tail);
  return fmt::format("exit code {}{}", code, tail);
}

// ---- the rows --------------------------------------------------------------------------------------------------------------

Cause by_stop_reason(const Evidence& e, std::optional<int>)
{
  if (!e.stop_reason) return std::nullopt;
  switch (e.stop_reason->kind) {
  case StopKind::not_run:
    return cause(cause_kind::not_run, printable(e.stop_reason->line()));
  case StopKind::removed:
    return cause(cause_kind::removed, printable(e.stop_reason->line()));
  case StopKind::not_started:
    return cause(cause_kind::not_run, "the job could not be started: " + e.stop_reason->text);
  default:
    return std::nullopt;
  }
}

// The rank that has ended without an exception, where the error of another rank is only that it has lost this one. What is
// printed before the first traceback may be the rank's last words.
Cause by_lost_rank(const Evidence& e, std::optional<int>)
{
  if (!e.error || !tells_lost_peer(e.error->cause)) return std::nullopt;
  const auto by_torchrun = failure_by_torchrun(e.standard_error);
  const auto failure = by_torchrun ? by_torchrun : failure_of_rank(e);
  if (!failure || !failure->first_rank() || failure->first_rank() == e.error->rank) return std::nullopt;
  // Others that have lost the same rank end with an exit code, too; torchrun's report puts them behind it.
  const bool was_killed = failure->signal > 0 || signal_in(failure->code) > 0 || failure->out_of_memory || failure->is_abort;
  if (!was_killed && !by_torchrun) return std::nullopt;
  const auto before = e.standard_error.substr(0, e.standard_error.find("Traceback (most recent call last)"));
  const auto words = last_words(before, e.submission ? e.submission->token : "");
  return end_of_rank(*failure, e, words.error.empty() ? words.rest : words.error);
}

Cause by_own_error(const Evidence& e, std::optional<int>)
{
  if (!e.error) return std::nullopt;
  const auto& error = *e.error;
  auto text = fmt::format("rank {} on {}: {}", error.rank, error.host, error.cause);
  const bool tells_step = error.step <= 0 || error.cause.starts_with(fmt::format("step {}: ", error.step));
  if (!tells_step) text += fmt::format(" (step {})", error.step);
  return cause(cause_kind::rank_error, text, error.host, error.rank);
}

// Only if the end may be one of a full disk: nobody printed another cause, or dtjob could not write (exit code 74), or the
// program was killed, or there is no exit code.
Cause by_full_disk(const Evidence& e, std::optional<int> code)
{
  constexpr int killed = 128 + 9;
  const auto words = words_of(e);
  const bool is_mute = words.error.empty() && words.launcher.empty() && words.own.empty();
  if (words.is_certain || !(is_mute || !code || *code == killed || *code == static_cast<int>(ExitCode::environment)))
    return std::nullopt;
  return full_disk(e);
}

Cause by_launcher(const Evidence& e, std::optional<int> code)
{
  const auto failure = failure_of_rank(e);
  const auto words = words_of(e);
  if (!failure || (code && tells_end(words, *code))) return std::nullopt;
  const bool has_exited = failure->signal == 0; // the last line of a rank that a signal killed rarely explains the signal
  return end_of_rank(*failure, e, words.error.empty() && has_exited ? words.rest : words.error);
}

Cause by_lost_node(const Evidence& e, std::optional<int>)
{
  const auto node = lost_node(e.standard_error);
  if (!node) return std::nullopt;
  const auto host = printable(*node);
  return cause(cause_kind::node, host + " was lost: the launcher can no longer reach it", host);
}

// A job that ended before it claimed its run has left words in its own log only: dtjob's last error there, or else the log's last
// line.
Cause by_job_log(const Evidence& e, std::optional<int> code)
{
  const auto lines = split(trim(e.job_log), '\n');
  if (e.has_owner || e.begin || e.end || lines.back().empty()) return std::nullopt;
  constexpr std::string_view error = "dtjob: ";
  const auto found = std::find_if(lines.rbegin(), lines.rend(), [&](const auto& line) { return line.starts_with(error); });
  const auto told = printable(found == lines.rend() ? lines.back() : found->substr(error.size()));
  return cause(cause_kind::not_run, fmt::format("its job ended{} before the run began: {}",
                                                code ? fmt::format(" with exit code {}", *code) : "", told));
}

Cause by_exit_code(const Evidence& e, std::optional<int> code)
{
  if (!code) return std::nullopt;
  return cause(cause_kind::job_exit, exit_words(*code, words_of(e)));
}

Cause by_absence(const Evidence&, std::optional<int>)
{
  return cause(cause_kind::no_end, "no end was recorded: dtjob was killed, the machine went down, or the disk was full");
}

constexpr std::array all_causes{
    CauseRule{"why the run was not run, or was removed", by_stop_reason},
    CauseRule{"a rank whose loss is another rank's error", by_lost_rank},
    CauseRule{"the error that a rank has told", by_own_error},
    CauseRule{"words about a full disk", by_full_disk},
    CauseRule{"the launcher's report of a rank", by_launcher},
    CauseRule{"the launcher's report of a node", by_lost_node},
    CauseRule{"the log of a job that never claimed the run", by_job_log},
    CauseRule{"the exit code and the last words", by_exit_code},
    CauseRule{"no end", by_absence},
};

} // namespace

std::optional<FailureCause> full_disk(const Evidence& e)
{
  using Row = std::pair<std::string_view, std::string_view>;
  constexpr std::array rows{Row{"No space left on device", "the disk is full"},
                            Row{"Disk quota exceeded", "the disk quota is used up"}};
  for (const auto* text : {&e.standard_error, &e.job_log}) {
    const auto lines = split(trim(*text), '\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      for (const auto& [words, sentence] : rows)
        if (line->find(words) != std::string::npos)
          return cause(cause_kind::disk, fmt::format("{}: {}", sentence, printable(*line)));
  }
  return std::nullopt;
}

std::span<const CauseRule> cause_rules() { return all_causes; }

FailureCause cause_of_failure(const Evidence& e, std::optional<int> code)
{
  for (const auto& rule : all_causes)
    if (auto found = rule.cause(e, code)) return *found;
  throw Error(ErrorKind::internal, "the last row of the causes always has one");
}

} // namespace dt::jobs
