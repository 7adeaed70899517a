// The end of an attempt of the user's own program: ProgramRecorder::conclude and what it needs.
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/surroundings.hpp"
#include "core/record/attempt/trace_record.hpp"
#include "core/record/measuring/caveats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/launch/rank_failure.hpp"
#include "jobs/program/parts.hpp"
#include "jobs/program/program_copies.hpp"
#include "jobs/program/program_recorder.hpp"
#include "jobs/program/reports/exchange.hpp"
#include "jobs/program/reports/program_profile.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

std::string words_of(const RankReport::Gap& gap)
{
  return fmt::format("{} of the output of rank 0 were not searched, because they were not read yet when the program had ended",
                     format_bytes(static_cast<double>(gap.bytes)));
}

} // namespace

// Why the run has no result although its program ended well; empty if it has one.
std::string ProgramRecorder::missing_evidence() const
{
  if (root_.worker && std::cmp_not_equal(root_.worker->ranks, ranks()))
    return fmt::format("the launcher of the program has started {} in all, but the recipe says {} (resources.nodes x "
                       "resources.ranks_per_node). torchrun takes the right number from its environment if its command has "
                       "neither --nnodes nor --nproc-per-node",
                       counted(root_.worker->ranks, "rank"), ranks());
  if (run_.spec.program.sync && !root_.sync)
    return "the recipe has a block `sync`, but rank 0 of the program began no training with dtctl_sync; call "
           "dtctl_sync.prepare() or "
           "dtctl_sync.Training(), or remove the block";
  if (root_.result) return {};
  if (!reader_)
    return "the program ended with exit code 0, but rank 0 reported no result; call dtctl_report.result() at the end of the "
           "training, or describe the program's output in program.metrics. A PyTorch training needs neither, if dtctl observes "
           "it "
           "(program.observe) and an optimizer steps after a backward pass";
  const auto missing = reader_->missing();
  if (missing.empty()) return {};
  const auto& finding = reader_->finding(missing.front());
  if (!finding.refusal.empty()) return finding.refusal;
  if (!finding.no_number.empty()) return finding.no_number;
  return fmt::format("the program ended with exit code 0, but rank 0 printed no line that matches program.metrics.{} ({}){}",
                     missing.front(), run_.spec.program.metrics.at(missing.front()),
                     root_.gap ? " in what was searched of its output: " + words_of(*root_.gap) : "");
}

// Returns a sentence about the error that the run failed with; empty if no rank reported one. A rank that reports an error after
// the run was told to stop may only have lost a rank that did so. Such an error is no cause, but no result comes out of it
// either.
std::string ProgramRecorder::write_error(std::span<const RankReport> reports, double told_to_stop_unix_s)
{
  // Clocks of nodes differ, and a scheduler may signal the ranks shortly before this process.
  constexpr double tolerance_s = 1;
  const auto* report = earliest_error(reports, told_to_stop_unix_s - tolerance_s);
  if (report == nullptr) {
    const auto* late = earliest_error(reports);
    if (late == nullptr) return {};
    const auto why = fmt::format("rank {} reported an error after the run was told to stop: {}", late->start.rank,
                                 printable(late->error->cause));
    say(why);
    return why;
  }
  const auto error = blamed(*report);
  const auto why = fmt::format("rank {} reported an error: {}", error.rank, error.cause);
  try {
    const auto refused = writer_->fail(error);
    return refused.empty() ? why : refused;
  } catch (const Error& trouble) {
    return fmt::format("{} ({})", why, trouble.what());
  }
}

// Returns why a record is missing or not whole; empty if all records are.
std::string ProgramRecorder::write_last_records(bool has_ended_well)
{
  Parts parts;
  parts.attempt([&] { find_started(); });
  parts.attempt([&] { read_root(Clock::time_point::max()); });
  append_events();
  parts.attempt([&] { leave_out_middle(); });
  parts.attempt([&] { read_output(Clock::time_point::max()); });
  end_output(has_ended_well);
  if (root_.gap) tell_gap(*root_.gap);
  append_events();
  if (!writer_->has_begun() && !started_.empty()) parts.attempt([&] { write_begin(); });
  parts.attempt([&] { write_records(); });
  parts.attempt([&] { writer_->close(); });
  try {
    parts.require_success();
  } catch (const std::exception& error) {
    return error.what();
  }
  std::error_code none;
  std::filesystem::remove_all(attempt_.path_of(AttemptFile::output), none);
  return {};
}

// The error of a rank; where it says only that another rank has gone, that other rank's end. Of a rank that a signal has killed
// the launcher tells.
RankError ProgramRecorder::blamed(const RankReport& report) const
{
  constexpr std::size_t stderr_tail = 8192;
  const auto& [step, unix_s, cause] = *report.error;
  const RankError own{report.start.rank, report.start.host, printable(cause), step, unix_s};
  const auto left = tells_lost_peer(cause) ? departures_->left_before(own.rank) : std::nullopt;
  if (!left) return own;
  const auto words = read_tail(attempt_.err(), stderr_tail);
  const auto by_torchrun = failure_by_torchrun(words);
  const auto told = by_torchrun ? by_torchrun : rank_failure(words);
  if (told && told->first_rank() == left->rank) return own;
  return {left->rank, left->host, fmt::format("it {}, and rank {} lost the connection to it", left->why, own.rank), -1, unix_s};
}

ProgramRecorder::End ProgramRecorder::conclude(int code, double told_to_stop_unix_s)
{
  const auto trouble = write_last_records(code == 0);
  const auto end = outcome(code, told_to_stop_unix_s, trouble);
  Parts().attempt([&] { log_.write(); });
  return end;
}

void ProgramRecorder::tell_gap(const RankReport::Gap& gap)
{
  say(fmt::format("program.metrics: {}. Figures that need every line are not measured; final figures are those of the last MiB",
                  words_of(gap)));
}

void ProgramRecorder::tell_divergence(const RunResult& result)
{
  if (!result.divergence.empty())
    say(fmt::format("the run {}{}; it is left out of accuracy and time to target", diverged_word, result.divergence));
  else if (divergence_.not_finite_steps() > 0)
    say(fmt::format("the loss was NaN or infinite in {} of {} reported steps, first in step {}, and finite at the end",
                    divergence_.not_finite_steps(), root_.steps.size(), divergence_.first_not_finite_step()));
}

// Writes load.json. Without it the result stands, but nobody can tell whether the machines were busy. A run that ends within the
// first looks has none. Returns a sentence about the hosts whose load is not known; empty if there are none.
std::string ProgramRecorder::write_load()
{
  std::vector<RankLoad> loads = load_ ? load_->loads() : std::vector<RankLoad>();
  std::set<std::string> unknown;
  for (const auto& [rank, line] : started_) {
    if (!is_watched(run_.spec, rank) || std::find(here_.begin(), here_.end(), rank) != here_.end()) continue;
    if (const auto text = read_file_if_exists(load_file(attempt_, rank)))
      loads.push_back(parse_rank_load(*text));
    else
      unknown.insert(line.host);
  }
  if (!loads.empty()) write_file_atomic(load_path(attempt_), to_json(LoadRecord{now_unix_s(), node_loads(loads)}));
  if (unknown.empty()) return {};
  return "who else used these hosts is not known: " + join(std::vector<std::string>(unknown.begin(), unknown.end()), ", ");
}

// Looks whether the ranks train together, by what their processes say and by what was seen of those on this host.
void ProgramRecorder::add_doubt_of_exchange(std::vector<RankReport>& reports)
{
  const auto seen = channels_ ? channels_->seen() : Exchange::unknown;
  for (const auto rank : seen == Exchange::unknown ? std::vector<std::size_t>() : here_) {
    auto& own = reports.at(rank).exchange;
    const bool is_open = !own || *own == Exchange::unknown;
    if (is_open || (own == Exchange::none && seen == Exchange::some)) own = seen;
  }
  if (auto doubt = doubt_of_exchange(reports); !doubt.kind.empty()) {
    say(doubt.sentence);
    reports.front().caveats.push_back(std::move(doubt));
  }
}

// Writes compute_profile.json, if the reports tell enough. Without it the result stands.
void ProgramRecorder::write_profile(std::span<const RankReport> reports) const
{
  const auto begin = read_begin(attempt_);
  std::string processor;
  for (const auto* fact : {"cpu_model", "node_gpus"})
    if (begin && begin->environment.contains(fact)) processor = begin->environment.at(fact);
  if (const auto profile = profile_of_program(run_.spec, reports, processor, continued_attempt(attempt_)))
    write_file_atomic(attempt_.path_of(AttemptFile::compute_profile), to_json(*profile));
}

ProgramRecorder::End ProgramRecorder::outcome(int code, double told_to_stop_unix_s, const std::string& trouble)
{
  constexpr int unwritten = static_cast<int>(ExitCode::environment);
  if (const auto why = refusal(); !why.empty()) return {code == 0 ? 1 : code, why};
  const bool has_result = missing_evidence().empty();
  std::vector<RankReport> reports{root_};
  for (std::size_t rank = 1; rank < ranks(); ++rank) reports.push_back(report_of_other(rank));
  const auto error = write_error(reports, told_to_stop_unix_s);
  const auto unrecorded = "the run's records could not be written, so it has no result: " + trouble;
  if (code != 0) {
    if (!error.empty()) return {code, error};
    return {code, has_result && !reader_ && !root_.is_observed() ? "the program reported its result, but then ended with an error"
                                                                 : ""};
  }
  // An error counts although the exit code is 0: the training has failed on that rank.
  if (!error.empty()) return {1, error};
  if (!trouble.empty()) return {unwritten, unrecorded};
  if (!has_result) return {1, missing_evidence()};
  // The accuracy that was left out may have been the last one, the best or the first at the target.
  if (reader_ && reader_->has_left_out_accuracy())
    for (auto& evaluation : reports.front().evaluations) evaluation.accuracy.reset();
  add_doubt_of_exchange(reports);
  ProgramMeasurement measurement(run_.spec, continued_attempt(attempt_));
  for (const auto& report : reports) {
    if (report.damaged_lines > 0)
      say(fmt::format("{} of the report of rank {} {} damaged and left out", counted(report.damaged_lines, "line"),
                      report.start.rank, report.damaged_lines == 1 ? "is" : "are"));
    measurement.add(report);
  }
  for (const auto& gap : measurement.gaps()) say(gap.sentence);
  auto result = measurement.result();
  tell_divergence(result);
  if (run_.spec.train.trace && !is_there(trace_path(attempt_, 0)))
    say("train.trace: no timeline was recorded, because the program trains neither with dtctl_sync nor with a PyTorch that dtctl "
        "observes");
  if (run_.spec.train.noise_scale > 0 && run_.spec.workers() > 1 && std::isnan(result.noise.value) &&
      std::isnan(result.noise.low))
    say("train.noise_scale: nothing was measured, because dtctl_sync summed no gradients in a step that is looked at, or the "
        "program reports no samples");
  if (root_.gap) result.facts["not searched by program.metrics"] = words_of(*root_.gap);
  std::string unknown_load;
  try {
    unknown_load = write_load();
  } catch (const std::exception& failure) {
    unknown_load = fmt::format("who else used the run's machines could not be recorded: {}", failure.what());
  }
  if (!unknown_load.empty()) {
    say(unknown_load);
    add_caveat(result.caveats, "machine", unknown_load);
  }
  if (const int niceness = own_surroundings().niceness; niceness > 0)
    add_caveat(result.caveats, "machine", fmt::format("niceness {}, so other processes of the machine went before it", niceness));
  try {
    write_profile(reports);
  } catch (const std::exception& failure) {
    say(fmt::format("the compute profile for simulations could not be written: {}", failure.what()));
  }
  const auto refused = writer_->commit(result);
  return {refused.empty() ? 0 : 1, refused};
}

} // namespace dt::jobs
