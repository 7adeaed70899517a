#include "jobs/program/program_recorder.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/home/home.hpp"
#include "core/machine/process.hpp"
#include "core/program/program_files.hpp"
#include "core/record/rank_state.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/program/parts.hpp"
#include "jobs/program/program_copies.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// The steps of the whole run as far as the recipe says so; 0: not known.
std::int64_t planned_steps(const RunSpec& spec)
{
  if (spec.train.steps > 0) return spec.train.steps;
  const auto batch = spec.effective_global_batch();
  if (batch == 0 || spec.data.train_samples == 0) return 0;
  return std::llround(std::ceil(spec.train.epochs * static_cast<double>(spec.data.train_samples / batch)));
}

double seconds_of(std::chrono::steady_clock::time_point time)
{
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

} // namespace

ProgramRecorder::ProgramRecorder(const AttemptFolder& attempt, PlannedRun run, std::string token)
    : attempt_(attempt), run_(std::move(run)), token_(std::move(token)), log_(attempt.err())
{
}

// The data set is hashed again, as dtengine does: the size and the time of a file prove nothing.
void ProgramRecorder::require_same_content() const
{
  const auto home = home_of(attempt_);
  const auto copy = home.program(run_.engine_build);
  const auto again = "Submit the recipe again: it becomes a new run.";
  if (!is_there(copy))
    throw Error(ErrorKind::run, fmt::format("program.files: the copy in {} is missing. {}", copy.string(), again));
  if (!has_same_files(copy, run_.engine_build))
    throw Error(ErrorKind::run,
                fmt::format("program.files: the copy in {} has other content than when this run was planned. Submit the recipe "
                            "again, which makes the copy new.",
                            copy.string()));
  if (!has_same_command(run_.spec, run_.engine_build))
    throw Error(ErrorKind::run,
                fmt::format("program.command: {} is another program on {} than where this run was submitted, or was changed "
                            "since. If it was changed, submit the recipe again: it becomes a new run. If nodes have a program of "
                            "their own, write its name without the folder, and add the folder to PATH in resources.setup: then "
                            "its content is no part of the run's key.",
                            run_.spec.program.command.front(), host_name()));
  const auto& data = run_.spec.data;
  if (data.name.empty() && data.path.empty()) return;
  const auto folder = home.data_place(data);
  if (data_id(data, folder) != run_.data_id)
    throw Error(ErrorKind::run,
                fmt::format("data set {} has other content than when this run was planned. {}", folder.string(), again));
}

void ProgramRecorder::prepare()
{
  require_unaltered(run_, spec_path(attempt_.run_folder()));
  require_same_content();
  const auto work = attempt_.path_of(AttemptFile::work);
  note_beginning(attempt_);
  make_folder(attempt_.run_folder() / "keep");
  copy_program(home_of(attempt_).program(run_.engine_build), work);
}

void ProgramRecorder::begin_launch()
{
  using enum AttemptFile;
  for (const auto file : {begin, events, reports, output, master}) fs::remove_all(attempt_.path_of(file));
  make_folder(attempt_.path_of(reports));
  started_.clear();
  root_started_.reset();
  facts_.clear();
  root_ = {};
  root_tail_ = std::make_unique<LineTail>(report_file(attempt_, 0));
  writer_.emplace(attempt_);
  output_.clear();
  reader_.reset();
  if (!run_.spec.program.metrics.empty()) {
    const auto folder = attempt_.path_of(output);
    make_folder(folder);
    reader_.emplace(run_.spec.program.metrics);
    output_.emplace_back(folder / "stdout", attempt_.out());
    output_.emplace_back(folder / "stderr", attempt_.err());
  }
  steps_written_ = evaluations_written_ = advances_ = 0;
  training_s_ = 0;
  restarts_ = 0;
  is_stall_written_ = false;
  looked_for_ranks_ = {};
  stall_.reset();
  here_.clear();
  load_.reset();
  channels_.reset();
  departures_.emplace(attempt_, run_.spec);
  last_epoch_ = not_measured;
  divergence_ = {};
  told_turns_ = 0;
}

bool ProgramRecorder::has_ended_here() const
{
  const auto host = host_name();
  std::size_t here = 0;
  for (const auto& [rank, line] : started_) {
    if (line.host != host) continue;
    if (identify_process(line.pid)) return false;
    ++here;
  }
  return has_started() && here > 0;
}

bool ProgramRecorder::look_for_ranks()
{
  find_started();
  return has_started();
}

void ProgramRecorder::look()
{
  Parts parts;
  const bool must_see_start = reader_ && !root_started_; // times count from it
  if (!has_started() && (must_see_start || Clock::now() - looked_for_ranks_ >= seconds(1))) {
    looked_for_ranks_ = Clock::now();
    parts.attempt([&] { find_started(); });
  }
  const auto until = Clock::now() + std::chrono::milliseconds(100); // limits and signals wait meanwhile
  is_behind_ = false;
  parts.attempt([&] { read_root(until); });
  parts.attempt([&] { read_output(until); });
  tell_of_silence();
  if (!writer_->has_begun() && (has_started() || !root_.steps.empty())) parts.attempt([&] { write_begin(); });
  append_events();
  if (has_started()) departures_->look(started_, has_result());
  watch_progress();
  parts.attempt([&] { watch_load(); });
  parts.attempt([&] { watch_channels(); });
  parts.attempt([&] { write_records(); });
  parts.attempt([&] { writer_->beat_if_due(); });
  parts.require_success();
}

bool ProgramRecorder::read_on()
{
  const auto until = Clock::now() + std::chrono::milliseconds(100);
  is_behind_ = false;
  Parts parts; // conclude() tries again and tells
  parts.attempt([&] { find_started(); });
  parts.attempt([&] { read_root(until); });
  parts.attempt([&] { read_output(until); });
  append_events();
  parts.attempt([&] { write_records(); });
  return is_behind_;
}

void ProgramRecorder::find_started()
{
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (started_.contains(rank)) continue;
    auto start = started_rank(attempt_, rank);
    if (!start) continue;
    started_.emplace(rank, start->line);
    if (!start->facts.empty()) facts_[rank] = std::move(start->facts);
  }
  if (!started_.contains(0) || root_started_) return;
  root_started_ = Clock::now();
  if (reader_) root_.started_clock_s = seconds_of(*root_started_);
}

// Everything that could not be written before is tried again.
void ProgramRecorder::write_records()
{
  Parts files;
  files.attempt([&] { writer_->write(); });
  for (auto& stream : output_) files.attempt([&] { stream.copy.write(); });
  files.attempt([&] { log_.write(); });
  if (stall_ && !is_stall_written_ && refusal().empty())
    files.attempt([&] {
      write_file_quick(attempt_.stall(), to_json(*stall_));
      is_stall_written_ = true;
    });
  files.require_success();
}

void ProgramRecorder::read_root(Clock::time_point until)
{
  do
    for (const auto& line : root_tail_->next_block()) root_.take(parse_report_line(line));
  while (root_tail_->has_more() && Clock::now() < until);
  is_behind_ = is_behind_ || root_tail_->has_more();
  if (root_.restarts() != restarts_) begin_again();
}

// The program's launcher has started the ranks again: what was recorded of the training before is replaced step by step.
void ProgramRecorder::begin_again()
{
  restarts_ = root_.restarts();
  steps_written_ = evaluations_written_ = 0;
  training_s_ = 0;
  last_epoch_ = not_measured;
  divergence_ = {};
  told_turns_ = 0;
  say(words_of_restarts(restarts_));
}

// What rank 0 prints goes on to the attempt's output as it is.
void ProgramRecorder::read_block(Stream& stream)
{
  const auto text = stream.tail.next_block();
  stream.copy.add(text);
  if (!text.empty()) stream.ends_line = text.back() == '\n';
  const LinePlace now{.clock_s = seconds_of(Clock::now())};
  for (const auto& line : stream.lines.take(text)) reader_->take(line, root_, now);
}

void ProgramRecorder::read_output(Clock::time_point until)
{
  for (auto& stream : output_) {
    do read_block(stream);
    while (stream.tail.has_more() && Clock::now() < until);
    is_behind_ = is_behind_ || stream.tail.has_more();
  }
  tell_of_metrics();
}

// Expressions may need a minute for what a program prints in a second. All of it goes to the log, which is quick.
void ProgramRecorder::leave_out_middle()
{
  constexpr std::int64_t searched_at_end = 1024 * 1024;
  RankReport::Gap gap{.steps = root_.steps.size(), .evaluations = root_.evaluations.size(), .rates = root_.rates.size()};
  for (auto& stream : output_) {
    while (stream.tail.left() > searched_at_end) {
      const auto block = stream.tail.next_block();
      if (block.empty()) break;
      stream.lines.leave_out(block);
      stream.ends_line = block.back() == '\n';
      stream.copy.add(block);
      stream.copy.write();
      gap.bytes += static_cast<std::int64_t>(block.size());
    }
  }
  if (gap.bytes == 0) return;
  reader_->leave_out(root_);
  root_.gap = gap;
}

// A last line without an end is looked at if `is_whole`: a program that was ended may have printed half a number.
void ProgramRecorder::end_output(bool is_whole)
{
  for (auto& stream : output_) {
    if (!stream.ends_line) stream.copy.add("\n"); // the messages of dtctl begin lines of their own
    if (!is_whole) continue;
    const LinePlace now{.clock_s = seconds_of(Clock::now())};
    for (const auto& line : stream.lines.take({}, true)) reader_->take(line, root_, now);
  }
  const auto known = root_.caveats.size();
  if (reader_) reader_->finish(root_);
  tell_of_metrics();
  if (reader_)
    for (auto& sentence : reader_->left_out()) root_.caveats.push_back({"metrics", std::move(sentence)});
  for (auto i = known; i < root_.caveats.size(); ++i) say(root_.caveats[i].sentence);
}

void ProgramRecorder::tell_of_metrics()
{
  for (const auto& stream : output_)
    if (stream.lines.cut_lines() > 0 && !std::exchange(has_told_of_long_line_, true))
      say("a line of more than 64 KiB was printed; program.metrics looks at its first 64 KiB only");
  if (!reader_) return;
  for (const auto& refusal : reader_->new_refusals()) say(refusal + "; it was left out");
  for (const auto& note : reader_->new_notes()) say(note);
}

// An expression that matches nothing fails the run, so it is told as soon as it is seen.
void ProgramRecorder::tell_of_silence()
{
  constexpr std::int64_t enough_lines = 100;
  if (!reader_ || !root_started_) return;
  const bool is_late = reader_->lines() >= enough_lines || Clock::now() - *root_started_ >= seconds(60);
  for (const auto& name : reader_->new_silent(is_late, root_)) say(reader_->silence(name));
  for (const auto& name : reader_->new_found()) say(fmt::format("program.metrics.{} has found its first figure now", name));
}

// Where a program does not say how long its steps take, the times at which its lines were read stand for it.
void ProgramRecorder::pass_time(double clock_s, double step_s)
{
  if (!std::isnan(step_s))
    training_s_ += step_s;
  else if (!run_.spec.program.metrics.contains("step_s"))
    training_s_ = std::fmax(training_s_, clock_s - root_.started_clock_s);
}

// After a gap, steps that the program does not number have no number.
void ProgramRecorder::append_events()
{
  const bool is_numbered = !root_.gap || root_.is_numbered;
  const auto samples = static_cast<double>(run_.spec.data.train_samples);
  for (; is_numbered && steps_written_ < root_.steps.size(); ++steps_written_) {
    const auto& step = root_.steps[steps_written_];
    watch_loss(step);
    pass_time(step.clock_s, step.step_s);
    auto& epoch = last_epoch_ = step.epoch;
    const auto batch = static_cast<double>(run_.spec.effective_global_batch());
    if (std::isnan(epoch) && samples > 0 && batch > 0) epoch = static_cast<double>(step.step) * batch / samples;
    writer_->add(StepEvent{.step = step.step,
                           .epoch = epoch,
                           .elapsed_s = training_s_,
                           .loss = step.loss,
                           .learning_rate = step.learning_rate,
                           .step_s = step.step_s,
                           .phase_s = step.phase_s});
  }
  for (; is_numbered && evaluations_written_ < root_.evaluations.size(); ++evaluations_written_) {
    const auto& evaluation = root_.evaluations[evaluations_written_];
    pass_time(evaluation.clock_s, not_measured);
    writer_->add(EvalEvent{.step = evaluation.step,
                           .epoch = last_epoch_,
                           .elapsed_s = training_s_,
                           .loss = evaluation.loss,
                           .accuracy = evaluation.accuracy,
                           .samples = std::isnan(evaluation.samples) ? not_counted : std::llround(evaluation.samples),
                           .eval_s = evaluation.eval_s});
  }
  const auto step = root_.steps.empty() ? (root_.begin ? root_.begin->step : 0) : root_.steps.back().step;
  writer_->progress(step, planned_steps(run_.spec));
}

// Tells the first step with a loss of NaN or infinity when it comes, and whether the loss becomes finite again.
void ProgramRecorder::watch_loss(const StepLine& step)
{
  const auto turn = divergence_.add_step(step.step, step.loss);
  if (turn == Divergence::Turn::none || ++told_turns_ > 2) return;
  say(turn == Divergence::Turn::bad ? fmt::format("{} at step {}", words_of_loss(*step.loss), step.step)
                                    : fmt::format("the loss is finite again at step {}", step.step));
}

// A program that reports steps and then reports nothing for train.stall_after stands still. One that reports none says nothing
// about its progress.
void ProgramRecorder::watch_progress()
{
  const auto limit_s = run_.spec.train.stall_after_s;
  if (limit_s == 0 || root_.steps.empty() || root_.result) return;
  const auto advances = root_.steps.size() + root_.evaluations.size();
  if (advances != std::exchange(advances_, advances)) {
    advanced_ = Clock::now();
    if (!stall_) return;
    if (!std::isnan(stall_->resolved_unix_s)) return;
    close_stall();
    say("the program reports steps again");
    return;
  }
  const auto still_s = std::chrono::duration<double>(Clock::now() - advanced_).count();
  const bool is_told = stall_ && std::isnan(stall_->resolved_unix_s);
  if (is_told || still_s < static_cast<double>(limit_s)) return;
  stall_ = StallRecord{
      .unix_s = now_unix_s(), .stalled_s = still_s, .step = root_.steps.back().step, .missing = behind(), .ranks = {}};
  is_stall_written_ = false;
  say(fmt::format("rank 0 has reported no step for {}, at step {}{}", format_duration(still_s), stall_->step,
                  stall_->missing.empty() ? "" : ": " + words_of(stall_->missing)));
}

void ProgramRecorder::close_stall()
{
  if (!stall_ || !std::isnan(stall_->resolved_unix_s)) return;
  stall_->resolved_unix_s = now_unix_s();
  is_stall_written_ = false;
  advanced_ = Clock::now();
}

bool ProgramRecorder::has_result() const { return root_.result || (reader_ && reader_->missing().empty()); }

// On this host, from the start of all ranks or, of a program that reports steps, from the end of its warm-up.
void ProgramRecorder::watch_load()
{
  if (!has_started()) return;
  if (!load_) {
    std::vector<RankLine> ranks;
    for (const auto& [rank, line] : started_)
      if (line.host == host_name() && is_watched(run_.spec, rank)) {
        here_.push_back(rank);
        ranks.push_back(line);
      }
    load_.emplace(std::move(ranks), watched_threads(run_.spec));
  }
  if (root_.begin || !root_.steps.empty())
    load_->count_steps(static_cast<std::int64_t>(root_.steps.size()), run_.spec.train.warmup_steps);
  root_.result ? load_->finish() : load_->look();
}

// The ranks of a launcher of the program's own are not told apart here; their processes report by themselves.
void ProgramRecorder::watch_channels()
{
  if (here_.empty() || ranks() == 1 || run_.spec.has_own_launcher() || root_.sync || root_.result) return;
  if (!channels_) {
    std::vector<pid_t> processes;
    for (const auto rank : here_) processes.push_back(started_.at(rank).pid);
    channels_.emplace(std::move(processes));
  }
  channels_->look(root_.begin || !root_.steps.empty());
}

// The ranks that have left; else those that have reported fewer steps than another one; rank 0 if there is none.
std::vector<MissingRank> ProgramRecorder::behind() const
{
  if (auto left = departures_->missing(); !left.empty()) return left;
  std::map<std::size_t, std::int64_t> steps;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const auto report = rank == 0 ? root_ : report_of_other(rank);
    if (!report.steps.empty()) steps[rank] = report.steps.back().step;
  }
  std::int64_t latest = 0;
  for (const auto& [rank, step] : steps) latest = std::max(latest, step);
  std::vector<MissingRank> missing;
  for (const auto& [rank, step] : steps)
    if (step < latest)
      missing.push_back({static_cast<int>(rank), started_.contains(rank) ? started_.at(rank).host : "",
                         fmt::format("is at step {} of {}", step, latest)});
  if (missing.empty()) missing.push_back({0, started_.contains(0) ? started_.at(0).host : "", "has reported nothing since"});
  return missing;
}

RankReport ProgramRecorder::report_of_other(std::size_t rank) const
{
  RankReport report;
  for (const auto& line : LineTail(report_file(attempt_, rank)).next()) report.take(parse_report_line(line));
  return report;
}

void ProgramRecorder::say(const std::string& what) { log_.add(own_note(token_, what)); }

} // namespace dt::jobs
