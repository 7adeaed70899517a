#include "jobs/launch/rank_failure.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <re2/re2.h>

namespace dt::jobs {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

// A number that a pattern has found; 0 if it is too large.
int number(std::string_view digits) { return number_of<int>(digits).value_or(0); }

// The number of the signal that the C library calls "Segmentation fault"; 0 if there is none.
int signal_of(std::string_view description)
{
  for (int signal = 1; signal < NSIG; ++signal)
    if (const char* text = ::sigdescr_np(signal); text != nullptr && description == text) return signal;
  return 0;
}

// ---- Open MPI's mpirun ------------------------------------------------------------------------------------------------
// It may break its sentences into lines anywhere. A rank's name is [[JOB,1],RANK] in version 4 and [prterun-HOST-PID@1,RANK] in
// version 5.

std::optional<RankFailure> read_open_mpi(std::string_view text)
{
  static const RE2 noticed(
      R"(process\s+rank\s+(\d+)\s+with\s+PID\s+\d+\s+on\s+node\s+(\S+)\s+exited\s+on\s+signal\s+(\d{1,4})\b)");
  static const RE2 detected(
      R"(processes\s+exited\s+with\s+non-zero\s+status,\s+thus\s+causing\s+the\s+job\s+to\s+be\s+terminated\.)"
      R"(\s+The\s+first\s+process\s+to\s+do\s+so\s+was:)"
      R"(\s+Process\s+name:\s+\[(?:\[\d+,\d+\]|\S+@\d+),(\d+)\]\s+Exit\s+code:\s+(\d{1,4})\b)");
  static const RE2 aborted(R"(MPI_ABORT\s+was\s+invoked\s+on\s+rank\s+(\d+)\s+in\s+communicator\s+MPI_COMM_WORLD)"
                           R"(\s+(?:with\s+errorcode|Proc:\s+\S+\s+Errorcode:)\s+(-?\d{1,9})\b)");
  RankFailure failure;
  if (RE2::PartialMatch(piece(text), aborted, &failure.ranks, &failure.code)) {
    failure.is_abort = true;
    return failure;
  }
  if (RE2::PartialMatch(piece(text), noticed, &failure.ranks, &failure.host, &failure.signal)) return failure;
  if (RE2::PartialMatch(piece(text), detected, &failure.ranks, &failure.code)) return failure;
  return std::nullopt;
}

// ---- srun ---------------------------------------------------------------------------------------------------------------

const RE2& task_report()
{
  static const RE2 report(R"(srun: error: (\S+): tasks? ([0-9,-]+): (.+?)(?: \(core dumped\))?)");
  return report;
}

// After one of these lines, a task that was killed was killed because of an earlier one.
bool is_about_step(std::string_view line)
{
  static constexpr std::array<std::string_view, 4> words{"Job step aborted", "Terminating StepId", "Force Terminated",
                                                         "*** STEP "};
  for (const auto word : words)
    if (line.find(word) != std::string_view::npos) return true;
  return false;
}

std::optional<RankFailure> read_srun(std::string_view text)
{
  constexpr std::string_view exited = "Exited with exit code ";
  bool is_step_ending = false;
  for (const auto& line : split(text, '\n')) {
    is_step_ending = is_step_ending || is_about_step(line);
    RankFailure failure;
    std::string what;
    if (!RE2::FullMatch(line, task_report(), &failure.host, &failure.ranks, &what)) continue;
    if (what.starts_with(exited))
      failure.code = number(std::string_view(what).substr(exited.size()));
    else
      failure.signal = signal_of(what);
    failure.out_of_memory = what == "Out Of Memory";
    const bool is_ended_by_srun =
        failure.signal == SIGTERM ||
        (is_step_ending && (failure.signal == SIGKILL || failure.code == 128 + SIGTERM || failure.code == 128 + SIGKILL));
    const bool is_told = failure.code != 0 || failure.signal != 0 || failure.out_of_memory;
    if (is_told && !is_ended_by_srun) return failure;
  }
  return std::nullopt;
}

// ---- dtjob ranks (jobs/agent/rank_processes.cpp) ------------------------------------------------------------------------

std::optional<RankFailure> read_own(std::string_view text)
{
  static const RE2 report(R"((?m)^dtjob: rank (\d+) on (\S+) ended with (?:exit code (\d{1,3})|signal (\d{1,3}))$)");
  RankFailure failure;
  std::string code, signal;
  if (!RE2::PartialMatch(piece(text), report, &failure.ranks, &failure.host, &code, &signal)) return std::nullopt;
  failure.code = number(code);
  failure.signal = number(signal);
  return failure;
}

// ---- hydra ----------------------------------------------------------------------------------------------------------------
// It reports ranks that a signal ended, in Intel MPI each with its number, and after the first one those that it has killed
// itself.

std::optional<RankFailure> read_hydra(std::string_view text)
{
  static const RE2 aborted(R"(application called MPI_Abort\(MPI_COMM_WORLD, (-?\d{1,9})\) - process (\d+))");
  static const RE2 block(R"(= +BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\s+)"
                         R"(= +(?:RANK (\d+) )?PID \d+ RUNNING AT (\S+)\s+= +(?:KILLED BY SIGNAL|EXIT CODE): (\d{1,4})\b)");
  RankFailure abort{.is_abort = true};
  if (RE2::PartialMatch(piece(text), aborted, &abort.code, &abort.ranks)) return abort;
  std::optional<RankFailure> first;
  auto rest = piece(text);
  RankFailure failure;
  while (RE2::FindAndConsume(&rest, block, &failure.ranks, &failure.host, &failure.signal)) {
    constexpr int signal_bits = 0x7F; // the rest of a wait status says whether there is a core dump
    failure.signal &= signal_bits;
    if (!first || (first->signal == SIGKILL && failure.signal != SIGKILL && failure.signal != SIGTERM)) first = failure;
  }
  return first;
}

// ---- torchrun -------------------------------------------------------------------------------------------------------------
// It looks at its processes ten times a second, and reports the time of a failure in whole seconds.

std::vector<RankFailure> torchrun_entries(std::string_view text)
{
  static const RE2 entry(R"(\[\d+\]:\n\s+time *: [^\n]*\n\s+host *: [^\n]*\n\s+rank *: (\d+) \(local_rank: \d+\)\n)"
                         R"(\s+exitcode *: (-?\d{1,4}) )");
  std::vector<RankFailure> entries;
  auto rest = piece(text);
  RankFailure failure;
  while (RE2::FindAndConsume(&rest, entry, &failure.ranks, &failure.code)) {
    failure.signal = failure.code < 0 ? -std::exchange(failure.code, 0) : 0; // as Python tells the end by a signal
    entries.push_back(failure);
  }
  return entries;
}

} // namespace

std::optional<int> RankFailure::first_rank() const { return leading_number<int>(ranks); }

std::optional<RankFailure> rank_failure(std::string_view text)
{
  for (const auto read : {read_open_mpi, read_srun, read_hydra, read_own})
    if (auto failure = read(text)) return failure;
  return std::nullopt;
}

std::optional<RankFailure> failure_by_torchrun(std::string_view text)
{
  constexpr std::string_view mark = "Root Cause (first observed failure):";
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto root = torchrun_entries(text.substr(at));
  if (root.empty()) return std::nullopt;
  constexpr int uncaught_exception = 1;
  if (root.front().code != uncaught_exception) return root.front();
  for (const auto& other : torchrun_entries(text.substr(0, at)))
    if (other.code != uncaught_exception && other.signal != SIGTERM && other.signal != SIGABRT) return other;
  return root.front();
}

bool is_task_report(std::string_view line) { return RE2::FullMatch(piece(line), task_report()); }

std::optional<std::string> lost_node(std::string_view text)
{
  static const RE2 report(R"((?:Remote\s+daemon\s*:\s*\S+\s+on\s+node|Node failure on)\s+(\S+))");
  std::string node;
  return RE2::PartialMatch(piece(text), report, &node) ? std::optional(node) : std::nullopt;
}

} // namespace dt::jobs
