#include "jobs/agent/last_records.hpp"

#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/spec/secrets.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/follow/failure_cause.hpp"
#include "jobs/follow/hold_back.hpp"
#include "jobs/machine/quick_file.hpp"

#include <array>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

// Writes cause.json. dtjob does it, because on this node all that the ranks and their launcher have printed is there. If it
// fails, dtctl looks for the cause itself when it judges the attempt.
void tell_cause(const AttemptState& s, int code)
{
  try {
    AttemptReader reader(s.attempt);
    AttemptRecord record;
    reader.read(std::array{AttemptFile::submission, AttemptFile::owner, AttemptFile::result}, record);
    if (record.has_result) return;
    JobStatus job;
    job.state = JobStatus::State::ended;
    const auto evidence = evidence_of(reader, record, job);
    if (evidence.cancel || evidence.preemption) return; // that is the cause
    auto cause = cause_of_failure(evidence, code);
    cause.text = without_secrets(std::string_view(cause.text));
    record_cause(s.attempt, cause);
  } catch (const std::exception& error) {
    s.log.note(fmt::format("the cause of the end could not be recorded: {}", error.what()));
  }
}

void end_with(const AttemptState& s, int code)
{
  tell_cause(s, code);
  try {
    record_end(s.attempt, {code, now_unix_s()});
  } catch (const std::exception& error) {
    s.log.say(fmt::format("the end of the job (exit code {}) could not be recorded in {}: {}", code, s.attempt.path().string(),
                          error.what()));
  }
}

void leave_word(const AttemptState& s, int code)
{
  const StopReason why{StopKind::removed, s.attempt.path().string() + " is gone"};
  s.log.say(why.line(), code);
  s.log.record([&] {
    if (!is_there(s.attempt.run_folder()) || !s.submission || is_there(s.attempt.submission())) return;
    make_folder(s.attempt.path().parent_path()); // one at a time: the run's own folder is not made again
    make_folder(s.attempt.path());
    if (!create_file_quick(s.attempt.submission(), to_json(*s.submission))) return; // another attempt has the number
    claim(s.attempt, own_identity(s.token, s.submission->job_id, s.submission->restart));
    write_stop_reason(s.attempt, why);
    end_with(s, code);
  });
}

} // namespace

void record_energy(const AttemptState& s)
{
  if (!s.energy) return;
  try {
    const auto result = read_outcome(s.attempt).result;
    if (result) s.log.put(energy_path(s.attempt), to_json(gather_energy(s.attempt, *s.spec, s.energy->node(), *result)));
  } catch (const std::exception& error) {
    s.log.note(fmt::format("the energy of the run could not be recorded: {}", error.what()));
  }
}

void record_last(const AttemptState& s, int code)
{
  if (s.place.was_removed())
    leave_word(s, code);
  else
    end_with(s, code);
}

void hold_back(const AttemptState& s)
{
  try {
    const auto held = hold_back_rest(s.attempt);
    if (held.empty()) return;
    s.log.note(counted(held.size(), "other run of the study is", "other runs of the study are") +
               " held back, because its first runs failed in the same way");
    if (s.terms.on_held_back) s.terms.on_held_back(held);
  } catch (const std::exception& error) {
    s.log.note(fmt::format("dtjob could not find out whether to hold back the rest of the study: {}", error.what()));
  }
}

} // namespace dt::jobs::agent
