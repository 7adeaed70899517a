#include "jobs/program/program_recorder.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/program/program_files.hpp"
#include "core/record/attempt_start.hpp"
#include "core/record/rank_state.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/quick_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/utsname.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// <home>/runs/<key>: the home of a run.
Home home_of(const AttemptFolder& attempt) { return Home(attempt.run_folder().parent_path().parent_path()); }

void append_to(const fs::path& path, const std::string& text)
{
  if (text.empty()) return;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  write_all(file.get(), text, path);
}

std::string cpu_model()
{
  for (const auto& line : split(read_file_if_exists("/proc/cpuinfo").value_or(""), '\n'))
    if (line.starts_with("model name")) return std::string(trim(line.substr(std::min(line.find(':') + 1, line.size()))));
  return {};
}

std::string kernel()
{
  utsname name{};
  return ::uname(&name) == 0 ? std::string(name.release) : std::string();
}

std::map<std::string, std::string> environment_of(const PlannedRun& run)
{
  std::map<std::string, std::string> facts{{"program", shell_join(run.spec.program.command)},
                                           {"program_content", run.engine_build},
                                           {"cpu_model", cpu_model()},
                                           {"kernel", kernel()}};
  if (!run.spec.resources.modules.empty()) facts["modules"] = join(run.spec.resources.modules, " ");
  if (!run.spec.resources.wrapper.empty()) facts["wrapper"] = shell_join(run.spec.resources.wrapper);
  if (const char* git = std::getenv("DTCTL_GIT_STATE")) facts["git_state"] = git;
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

// The steps of the whole run as far as the recipe says so; 0: not known.
std::int64_t planned_steps(const RunSpec& spec)
{
  if (spec.train.steps > 0) return spec.train.steps;
  const auto batch = spec.effective_global_batch();
  if (batch == 0 || spec.data.train_samples == 0) return 0;
  return std::llround(std::ceil(spec.train.epochs * static_cast<double>(spec.data.train_samples / batch)));
}

double or_zero(double time_s) { return std::isnan(time_s) ? 0 : time_s; }

} // namespace

ProgramRecorder::ProgramRecorder(const AttemptFolder& attempt, PlannedRun run) : attempt_(attempt), run_(std::move(run)) {}

fs::path ProgramRecorder::report_of(std::size_t rank) const
{
  return attempt_.path_of(AttemptFile::reports) / fmt::format("rank-{}", rank);
}

// The data set is hashed again, as dtengine does: the size and the time of a file prove nothing.
void ProgramRecorder::require_same_content() const
{
  const auto home = home_of(attempt_);
  const auto copy = home.program(run_.engine_build);
  const auto again = "Submit the recipe again: it becomes a new run.";
  if (!is_there(copy))
    throw Error(ErrorKind::run, fmt::format("program.files: the copy in {} is missing. {}", copy.string(), again));
  if (program_id_of_copy(run_.spec.program, copy) != run_.engine_build)
    throw Error(ErrorKind::run,
                fmt::format("the program has other content than when this run was planned: {} or the program that "
                            "program.command names was changed. {}",
                            copy.string(), again));
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
  make_folders(attempt_.run_folder() / "keep");
  copy_program(home_of(attempt_).program(run_.engine_build), work);
}

void ProgramRecorder::begin_launch()
{
  for (const auto file : {AttemptFile::reports, AttemptFile::output, AttemptFile::master}) fs::remove_all(attempt_.path_of(file));
  make_folders(attempt_.path_of(AttemptFile::reports));
  started_.clear();
  root_ = {};
  root_tail_ = std::make_unique<LineTail>(report_of(0));
  output_.clear();
  reader_.reset();
  if (!run_.spec.program.metrics.empty()) {
    const auto folder = attempt_.path_of(AttemptFile::output);
    make_folders(folder);
    reader_.emplace(run_.spec.program.metrics);
    output_.push_back({LineTail(folder / "stdout"), attempt_.out()});
    output_.push_back({LineTail(folder / "stderr"), attempt_.err()});
  }
  steps_written_ = evaluations_written_ = advances_ = 0;
  training_s_ = 0;
  has_begun_ = false;
  beaten_ = looked_for_ranks_ = {};
  stall_.reset();
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

bool ProgramRecorder::is_fenced() const { return successor_of(attempt_).has_value(); }

void ProgramRecorder::look()
{
  if (!has_started() && Clock::now() - looked_for_ranks_ >= seconds(1)) {
    looked_for_ranks_ = Clock::now();
    find_started();
    if (has_started() && !has_begun_) write_begin();
  }
  read_root();
  read_output(false);
  if (!has_begun_ && !root_.steps.empty()) {
    find_started();
    write_begin();
  }
  append_events();
  if (has_begun_ && Clock::now() - beaten_ >= seconds(1)) beat();
  watch_progress();
}

// The first line of each report says where the rank runs.
void ProgramRecorder::find_started()
{
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (started_.contains(rank)) continue;
    const auto lines = LineTail(report_of(rank)).next();
    const auto first = lines.empty() ? ReportLine() : parse_report_line(lines.front());
    if (const auto* line = std::get_if<RankLine>(&first)) started_.emplace(rank, *line);
  }
}

void ProgramRecorder::write_begin()
{
  BeginRecord begin;
  begin.unix_s = now_unix_s();
  begin.ranks = static_cast<int>(ranks());
  begin.threads_per_rank = static_cast<int>(run_.spec.resources.threads_per_rank);
  std::set<std::string> hosts;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const auto line = started_.contains(rank) ? started_.at(rank) : RankLine{};
    begin.rank_hosts.push_back(line.host);
    begin.rank_masks.push_back(line.cores);
    if (!line.host.empty()) hosts.insert(line.host);
  }
  if (started_.contains(0)) {
    begin.host = started_.at(0).host;
    begin.pid = started_.at(0).pid;
  }
  begin.nodes = static_cast<int>(hosts.size());
  begin.environment = environment_of(run_);
  for (const auto& [rank, line] : started_)
    if (line.gpus != "-") begin.environment[fmt::format("gpus of rank {}", rank)] = line.gpus;
  create_file_exclusive(attempt_.begin(), to_json(begin));
  has_begun_ = true;
  advanced_ = Clock::now();
}

void ProgramRecorder::read_root()
{
  for (const auto& line : root_tail_->next()) root_.take(parse_report_line(line));
}

// What rank 0 prints goes on to the attempt's output.
void ProgramRecorder::read_output(bool is_complete)
{
  for (auto& stream : output_) {
    std::string text;
    for (const auto& line : stream.tail.next(is_complete)) {
      (text += line) += '\n';
      reader_->take(line, root_);
    }
    append_to(stream.copy_to, text);
  }
}

void ProgramRecorder::append_events()
{
  std::string text;
  const auto samples = static_cast<double>(run_.spec.data.train_samples);
  double epoch = not_measured;
  for (; steps_written_ < root_.steps.size(); ++steps_written_) {
    const auto& step = root_.steps[steps_written_];
    training_s_ += or_zero(step.step_s);
    epoch = step.epoch;
    const auto batch = static_cast<double>(run_.spec.effective_global_batch());
    if (std::isnan(epoch) && samples > 0 && batch > 0) epoch = static_cast<double>(step.step) * batch / samples;
    append_line(text, StepEvent{.step = step.step,
                                .epoch = epoch,
                                .elapsed_s = training_s_,
                                .loss = step.loss,
                                .learning_rate = step.learning_rate,
                                .step_s = step.step_s,
                                .phase_s = step.phase_s});
  }
  for (; evaluations_written_ < root_.evaluations.size(); ++evaluations_written_) {
    const auto& evaluation = root_.evaluations[evaluations_written_];
    append_line(text, EvalEvent{.step = evaluation.step,
                                .epoch = epoch,
                                .elapsed_s = training_s_,
                                .loss = evaluation.loss,
                                .accuracy = evaluation.accuracy,
                                .samples = std::isnan(evaluation.samples) ? not_counted : std::llround(evaluation.samples),
                                .eval_s = evaluation.eval_s});
  }
  append_to(attempt_.events(), text);
}

void ProgramRecorder::beat()
{
  beaten_ = Clock::now();
  const auto step = root_.steps.empty() ? (root_.begin ? root_.begin->step : 0) : root_.steps.back().step;
  replace_file(attempt_.heartbeat(), to_line(Heartbeat{now_unix_s(), step, planned_steps(run_.spec)}));
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
    stall_->resolved_unix_s = now_unix_s();
    write_file_quick(attempt_.stall(), to_json(*stall_));
    say("the program reports steps again");
    stall_.reset();
    return;
  }
  const auto still_s = std::chrono::duration<double>(Clock::now() - advanced_).count();
  if (stall_ || still_s < static_cast<double>(limit_s)) return;
  stall_ = StallRecord{
      .unix_s = now_unix_s(), .stalled_s = still_s, .step = root_.steps.back().step, .missing = behind(), .ranks = {}};
  write_file_quick(attempt_.stall(), to_json(*stall_));
  say(fmt::format("rank 0 has reported no step for {}, at step {}{}", format_duration(still_s), stall_->step,
                  stall_->missing.empty() ? "" : ": " + words_of(stall_->missing)));
}

// The ranks that have reported fewer steps than another one; rank 0 if there is none.
std::vector<MissingRank> ProgramRecorder::behind() const
{
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
  for (const auto& line : LineTail(report_of(rank)).next()) report.take(parse_report_line(line));
  return report;
}

// Why the run has no result although its program ended well; empty if it has one.
std::string ProgramRecorder::missing_evidence() const
{
  if (root_.result) return {};
  if (!reader_)
    return "the program ended with exit code 0, but rank 0 reported no result; call dtctl_report.result() at the end of the "
           "training, or describe the program's output in program.metrics";
  const auto missing = reader_->missing();
  if (missing.empty()) return {};
  return fmt::format("the program ended with exit code 0, but rank 0 printed no line that matches program.metrics.{} ({})",
                     missing.front(), run_.spec.program.metrics.at(missing.front()));
}

// Returns the sentence about the rank whose error was written; empty if no rank reported one.
std::string ProgramRecorder::write_error(const std::vector<RankReport>& reports) const
{
  for (const auto& report : reports) {
    if (!report.error) continue;
    const RankError error{report.start.rank, report.start.host, printable(report.error->cause), report.error->step, now_unix_s()};
    create_file_exclusive(attempt_.error(), to_json(error));
    return fmt::format("rank {} reported an error: {}", error.rank, error.cause);
  }
  return {};
}

ProgramRecorder::End ProgramRecorder::conclude(int code)
{
  find_started();
  read_root();
  read_output(true);
  append_events();
  if (!has_begun_ && !started_.empty()) write_begin();
  if (has_begun_) beat();
  std::error_code none;
  fs::remove_all(attempt_.path_of(AttemptFile::output), none);
  const bool has_result = missing_evidence().empty();
  if (code == 0 && !has_result) return {1, missing_evidence()};

  std::vector<RankReport> reports{root_};
  for (std::size_t rank = 1; rank < ranks(); ++rank) reports.push_back(report_of_other(rank));
  if (code != 0) {
    (void)write_error(reports);
    return {code, has_result && !reader_ ? "the program reported its result, but then ended with an error" : ""};
  }
  // An error counts although the exit code is 0: the training has failed on that rank.
  if (const auto why = write_error(reports); !why.empty()) return {1, why};
  ProgramMeasurement measurement(run_.spec);
  for (const auto& report : reports) {
    if (report.damaged_lines > 0)
      say(fmt::format("{} of the report of rank {} {} damaged and left out",
                      report.damaged_lines == 1 ? "1 line" : fmt::format("{} lines", report.damaged_lines), report.start.rank,
                      report.damaged_lines == 1 ? "is" : "are"));
    measurement.add(report);
  }
  if (!commit_result(attempt_, measurement.result())) return {1, fenced_off(successor_of(attempt_).value_or(0))};
  return {0, {}};
}

void ProgramRecorder::say(const std::string& what) const { append_to(attempt_.err(), "dtctl: " + printable(what) + "\n"); }

} // namespace dt::jobs
