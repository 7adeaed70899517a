#include "jobs/agent/program_watch.hpp"

#include "core/units.hpp"
#include "jobs/agent/own_processes.hpp"

#include <cmath>
#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

constexpr std::chrono::seconds orphan_grace{3}; // from the end of the ranks to SIGKILL for what they have left behind

} // namespace

ProgramWatch::ProgramWatch(const AttemptFolder& attempt, PlannedRun run, const std::string& token, const AttemptLog& log)
    : token_(token), log_(log), recorder_(attempt, std::move(run), token)
{
}

void ProgramWatch::begin_launch()
{
  recorder_.begin_launch();
  ended_here_at_.reset();
}

void ProgramWatch::look()
{
  try {
    recorder_.look();
    if (!unrecorded_) return;
    const auto time_s = std::chrono::duration<double>(Clock::now() - unrecorded_->since).count();
    log_.note(fmt::format("the records of the run are complete again; for {} they could not be written: {}",
                          format_duration(std::ceil(time_s)), unrecorded_->cause));
    unrecorded_.reset();
  } catch (const std::exception& error) {
    if (unrecorded_) return; // the note below was already written for this trouble
    unrecorded_ = {Clock::now(), error.what()};
    log_.note(fmt::format("the records of the run cannot be written now: {}. The training goes on, and dtjob tries again",
                          error.what()));
  }
}

void ProgramWatch::end_orphans()
{
  if (!recorder_.has_ended_here()) return;
  if (!ended_here_at_) ended_here_at_ = Clock::now();
  if (Clock::now() - *ended_here_at_ >= orphan_grace) end_left_behind();
}

void ProgramWatch::end_left_behind() const
{
  for (const pid_t process : detached_processes(token_))
    if (::kill(process, SIGKILL) == 0)
      log_.note(fmt::format("process {}, which the program has left behind, was ended", process));
}

bool ProgramWatch::find_left_alone(bool is_at_limit)
{
  if (!left_alone_.empty()) return false;
  left_alone_ = recorder_.left_alone(is_at_limit);
  if (left_alone_.empty()) return false;
  recorder_.close_stall();
  return true;
}

ProgramRecorder::End ProgramWatch::verdict(const ProgramRecorder::End& recorded, int code, bool has_error,
                                           bool is_cut_short) const
{
  if (!left_alone_.empty() && !has_error) return {1, left_alone_};
  return {is_cut_short ? code : recorded.code, recorded.why};
}

} // namespace dt::jobs::agent
