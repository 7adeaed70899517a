#include "engine/train/job/job.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/comm/machine/numa_nodes.hpp"
#include "engine/comm/mpi_world.hpp"
#include "engine/comm/placement.hpp"
#include "engine/sync/spare_core.hpp"
#include "engine/train/job/job_overseer.hpp"
#include "engine/train/loop/trainer.hpp"
#include "engine/train/record/environment.hpp"
#include "engine/train/record/probe.hpp"
#include "engine/train/record/stop_signals.hpp"
#include "engine/train/record/watcher.hpp"
#include "engine/train/step/step_timer.hpp"

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::train {
namespace {

// Rank 0's observer: records everything and also prints evaluations.
class RootObserver : public RecordingObserver {
 public:
  using RecordingObserver::RecordingObserver;
  void planned(std::int64_t steps) override
  {
    fmt::print("{} steps\n", steps);
    std::fflush(stdout);
    RecordingObserver::planned(steps);
  }
  void started_from(const std::string& origin) override
  {
    fmt::print("starts from {}\n", origin);
    std::fflush(stdout);
  }
  void started(const StartTimes& times) override
  {
    fmt::print("first step after {}\n", times.words());
    std::fflush(stdout);
  }
  void evaluation(const EvalEvent& event) override
  {
    fmt::print("step {}, epoch {:.2f}: held-out accuracy {:.2f}%, loss {:.4f}, after {} of training\n", event.step, event.epoch,
               100 * or_not_measured(event.accuracy), or_not_measured(event.loss), format_seconds(event.elapsed_s));
    std::fflush(stdout);
    RecordingObserver::evaluation(event);
  }
};

void complain(const RankError& error)
{
  fmt::print(stderr, "dtengine: rank {} on {}: {}\n", error.rank, error.host, error.cause);
  std::fflush(nullptr);
}

// Prints the accuracies of all models except the workers' common one.
void print_accuracies(const RunResult& result)
{
  const std::array models{std::pair{"the centre", result.accuracy_centre}, std::pair{"rank 0's model", result.accuracy_worker},
                          std::pair{"the workers' average", result.accuracy_average}};
  for (const auto& [model, accuracy] : models)
    if (!std::isnan(accuracy)) fmt::print("held-out accuracy of {}: {:.2f}%\n", model, 100 * accuracy);
}

void print_end(const RunResult& result)
{
  fmt::print("{} steps in {}: ", result.steps, format_seconds(result.wall_s));
  if (std::isnan(result.throughput))
    fmt::print("too few steps since step {} to measure throughput\n", result.resumed_step);
  else
    fmt::print("{:.1f} samples/s, {:.1f}% of the time in exposed communication\n", result.throughput,
               100 * result.communication_share);
  if (!std::isnan(result.isolated_communication_s))
    fmt::print("one step's communication takes {} with nothing beside it\n", format_seconds(result.isolated_communication_s));
  if (result.staleness.updates > 0)
    fmt::print("{} updates of the centre, staleness {:.2f} in the mean, {:.0f} at most\n", result.staleness.updates,
               result.staleness.mean, result.staleness.max);
  if (result.replaced_samples > 0)
    fmt::print("{} times a sample could not be decoded, and the next one was taken; `dtctl data check` names them\n",
               result.replaced_samples);
  print_accuracies(result);
}

void print_facts(const Trainer& trainer)
{
  for (const auto& [name, words] : trainer.facts()) fmt::print("{}: {}\n", name, words);
  std::fflush(stdout);
}

// ", communication on core 3" for a rank with a communication thread; the rank's compute threads stay off that core.
std::string communication_core(const RunSpec& spec, const std::vector<comm::RankPlace>& places, std::size_t rank)
{
  if (spec.sync.progress != ProgressMode::thread || spec.ranks() == 1) return {};
  const auto spare = sync::find_spare_core(places, static_cast<int>(rank), spec.resources.threads_per_rank);
  return spare ? fmt::format(", communication on core {}", spare->core) : ", communication on no core of its own";
}

void say(const std::string& words)
{
  fmt::print(stderr, "dtengine: {}\n", words);
  std::fflush(stderr);
}

// Ends the process at once, without MPI, because the main thread may be waiting for a rank that is gone. The launcher then ends
// the other ranks.
[[noreturn]] void end_at_once(const std::string& words)
{
  say(words);
  std::fflush(nullptr);
  ::_exit(EXIT_FAILURE);
}

// Time for a cancelled run to finish its step. A run that hangs never finishes it.
constexpr double cancel_grace_s = 10;

class Job {
 public:
  Job(const JobOptions& options, comm::Communicator& comm, StartTimes& start)
      : options_(options), comm_(comm), start_(start), attempt_(options.attempt)
  {
  }
  int run();
  // Reports the error of this rank, records it as the run's cause unless another rank was first, and ends all ranks.
  [[noreturn]] void fail(const std::string& cause, std::int64_t step);

 private:
  void read_spec();
  bool claim();
  void take(const BeginRecord& begin, const std::vector<comm::RankPlace>& places);
  BeginRecord begin_record(const std::vector<comm::RankPlace>& places,
                           const std::map<std::string, std::string>& environment) const;
  void print_start(const BeginRecord& begin, const std::vector<comm::RankPlace>& places) const;
  void require_startable(const std::vector<comm::RankPlace>& places) const;
  std::filesystem::path data_place() const;
  std::filesystem::path cache_folder() const;
  std::optional<RecordedAlgorithms> earlier_algorithms() const;
  void keep_algorithms(const Trainer& trainer) const;
  ProbeRecord probe() const;
  void add_processor(RunResult& result, const ProbeRecord& probe) const;
  CheckpointOwner checkpoint_owner() const;
  JobOverseer::Options overseer_options() const;
  Watcher::Options watcher_options(const std::vector<comm::RankPlace>& places);
  std::optional<CheckpointReader> look_for_checkpoint() const;
  std::optional<TrainingProgress> share(const std::optional<CheckpointReader>& checkpoint) const;
  void require_same_data() const;
  void require_same_start() const;
  void cancel();
  void keep_timeline(const Trainer& trainer);
  void keep_load(const Trainer& trainer) const;
  int end_with(const RunResult& result);
  int end_stopped(const Trainer& trainer);
  void write_preemption(const Trainer& trainer);

  JobOptions options_;
  comm::Communicator& comm_;
  StartTimes& start_;
  AttemptFolder attempt_;
  PlannedRun planned_;
  bool ours_ = false; // whether this process has claimed the attempt; only the owner may write into the folder
  std::optional<JobOverseer> overseer_;
  double cancelled_s_ = 0;              // clock when the writer's thread first saw the file `cancel`; 0: not yet
  std::optional<AttemptWriter> writer_; // on rank 0; its thread uses the overseer
  std::optional<Watcher> watcher_;      // after the claim; its thread uses the overseer too
};

int Job::run()
{
  read_spec();
  overseer_.emplace(overseer_options());
  if (!claim()) return EXIT_FAILURE;
  start_.end("claim");
  const auto found = probe();
  start_.end("probe");

  const auto checkpoint = look_for_checkpoint();
  if (writer_) require_same_data();
  if (writer_ && !checkpoint) require_same_start();
  const auto progress = share(checkpoint);
  start_.end("checks");
  Trainer trainer({.spec = planned_.spec,
                   .data_folder = data_place(),
                   .resumed = progress,
                   .checkpoint = checkpoint ? &*checkpoint : nullptr,
                   .cache = cache_folder(),
                   .recorded_algorithms = earlier_algorithms(),
                   .start = &start_},
                  comm_);
  if (writer_) keep_algorithms(trainer);
  if (writer_) print_facts(trainer);
  Observer silent;
  std::optional<RootObserver> root;
  if (writer_) root.emplace(*writer_);
  auto result = trainer.run(root ? *root : silent, *overseer_);
  if (result) add_processor(*result, found);
  if (planned_.spec.train.trace) keep_timeline(trainer);
  if (result && writer_) keep_load(trainer);
  return result ? end_with(*result) : end_stopped(trainer);
}

// Only one rank reads the file, so that a thousand ranks do not load the file system at once.
void Job::read_spec()
{
  require_attempt(options_.attempt);
  const auto path = spec_path(attempt_.run_folder());
  const auto text = comm_.broadcast_text(comm_.is_root() ? read_file(path) : "");
  planned_ = parse_planned_run(text, path.string());
  require_unaltered(planned_, path);
}

// Claims the attempt: the process that creates begin.json owns it. False if another process did, or if the attempt is fenced off.
// Collective.
bool Job::claim()
{
  const auto places = comm::gather_places(comm_);
  auto environment = describe_environment(comm_);
  // One entry per rank, as in rank_masks.
  environment["rank_numa_nodes"] = join(comm_.gather_texts(mask_text(comm::numa_nodes_of(comm::own_place().cores))), "; ");
  if (comm_.is_root()) take(begin_record(places, environment), places);
  ours_ = comm_.broadcast_text(ours_ ? "ours" : "another's") == "ours";
  if (ours_) watcher_.emplace(watcher_options(places), comm_.activity());
  return ours_;
}

// Claims the attempt on rank 0.
void Job::take(const BeginRecord& begin, const std::vector<comm::RankPlace>& places)
{
  writer_.emplace(attempt_);
  if (const auto refusal = writer_->begin(begin); !refusal.empty()) return say(refusal);
  ours_ = true;
  writer_->start({.refused = end_at_once, .cancelled = [this] { cancel(); }});
  print_start(begin, places);
  require_startable(places);
}

BeginRecord Job::begin_record(const std::vector<comm::RankPlace>& places,
                              const std::map<std::string, std::string>& environment) const
{
  BeginRecord begin;
  begin.unix_s = now_unix_s();
  begin.host = host_name();
  begin.pid = static_cast<int>(::getpid());
  begin.ranks = comm_.size();
  begin.nodes = comm::node_count(places);
  begin.threads_per_rank = static_cast<int>(planned_.spec.resources.threads_per_rank);
  for (const auto& place : places) {
    begin.rank_hosts.push_back(place.host);
    begin.rank_masks.push_back(mask_text(place.cores));
  }
  begin.environment = environment;
  return begin;
}

void Job::print_start(const BeginRecord& begin, const std::vector<comm::RankPlace>& places) const
{
  const auto& spec = planned_.spec;
  fmt::print("dtengine {}: {} on {}, {} with allreduce {}\n", engine_version(), spec.model.name, spec.data.name,
             spec.sync.strategy, spec.sync.allreduce);
  fmt::print("ranks {}, nodes {}, threads a rank {}\n", begin.ranks, begin.nodes, begin.threads_per_rank);
  for (std::size_t r = 0; r < begin.rank_hosts.size(); ++r)
    fmt::print("  rank {} on {}, cores {}{}\n", r, begin.rank_hosts[r], begin.rank_masks[r], communication_core(spec, places, r));
  std::fflush(stdout);
}

void Job::require_startable(const std::vector<comm::RankPlace>& places) const
{
  const auto& spec = planned_.spec;
  if (comm_.size() != spec.ranks())
    throw Error(ErrorKind::run,
                fmt::format("The spec asks for {} ranks ({} nodes of {}), but {} were started. Check resources.launcher_args.",
                            spec.ranks(), spec.resources.nodes, spec.resources.ranks_per_node, comm_.size()));
  if (planned_.engine_build != engine_build())
    throw Error(ErrorKind::run,
                fmt::format("This run was planned for engine build {}, but this program is build {}. Submit the recipe again: "
                            "it becomes a new run.",
                            printable(planned_.engine_build), engine_build()));
  if (spec.sync.allreduce == "gloo") comm::require_gloo();
  if (!spec.resources.oversubscribe)
    comm::require_cores(places, {.compute = spec.resources.threads_per_rank,
                                 .communication = spec.ranks() > 1 ? spec.progress_threads() : 0,
                                 .decode = spec.data.decode_threads});
}

std::filesystem::path Job::data_place() const
{
  return options_.data.empty() ? std::filesystem::path(planned_.spec.data.path) : options_.data;
}

// The run's folder is <home>/runs/<key>. The cache is for the machine, so it lies in <home>.
std::filesystem::path Job::cache_folder() const { return attempt_.run_folder().parent_path().parent_path() / "cache"; }

// On rank 0, what this attempt (in a launch that has died) or the newest earlier one has recorded; empty if none has.
std::optional<RecordedAlgorithms> Job::earlier_algorithms() const
{
  if (!comm_.is_root() || planned_.spec.train.algorithms != AlgorithmChoice::timed) return std::nullopt;
  const auto file = recorded_algorithms(attempt_.run_folder(), attempt_.number());
  if (!file) return std::nullopt;
  try {
    return RecordedAlgorithms{read_algorithms(*file), AttemptFolder(file->parent_path()).number()};
  } catch (const Error& error) {
    throw Error(ErrorKind::run,
                fmt::format("{} This run must go on with the algorithms in it. Put its content back, or remove the file: then "
                            "this attempt chooses anew.",
                            error.what()));
  }
}

void Job::keep_algorithms(const Trainer& trainer) const
{
  if (const auto algorithms = trainer.algorithms(); !algorithms.empty())
    write_file_atomic(attempt_.algorithms(), to_json(algorithms));
}

ProbeRecord Job::probe() const
{
  const auto& spec = planned_.spec;
  const auto found = probe_ranks(comm_, static_cast<int>(spec.resources.threads_per_rank), spec.sync.allreduce);
  if (writer_) replace_file(attempt_.probe(), to_json(found)); // no sync: the first step would wait for the disk
  return found;
}

// Adds the device of the passes to the result, and its peak if they compute in single precision, in which the probe measures it.
// Adds neither if the passes are modelled.
void Job::add_processor(RunResult& result, const ProbeRecord& probe) const
{
  const auto& train = planned_.spec.train;
  if (train.modelled_rate > 0) return;
  result.flops.device = "cpu";
  if (train.precision == Precision::fp32) result.flops.matmul = matmul_flops(probe);
}

CheckpointOwner Job::checkpoint_owner() const
{
  return {.run_key = planned_.key,
          .engine_build = planned_.engine_build,
          .data_id = planned_.data_id,
          .model = planned_.spec.model.name,
          .strategy = planned_.spec.sync.strategy,
          .optimizer = planned_.spec.optimizer.name,
          .ranks = comm_.size()};
}

JobOverseer::Options Job::overseer_options() const
{
  return {.attempt = attempt_,
          .owner = checkpoint_owner(),
          .checkpoint_every_s = static_cast<double>(planned_.spec.train.checkpoint_every_s),
          .is_root = comm_.is_root()};
}

Watcher::Options Job::watcher_options(const std::vector<comm::RankPlace>& places)
{
  Watcher::Options options{.attempt = attempt_,
                           .rank = comm_.rank(),
                           .hosts = {},
                           .stall_after_s = static_cast<double>(planned_.spec.train.stall_after_s),
                           .told_to_stop = [this](int signal) { overseer_->told_to_stop(signal); }};
  for (const auto& place : places) options.hosts.push_back(place.host);
  return options;
}

// On rank 0; empty on the other ranks.
std::optional<CheckpointReader> Job::look_for_checkpoint() const
{
  if (!comm_.is_root()) return std::nullopt;
  std::vector<std::string> refused;
  auto found = find_checkpoint(attempt_, checkpoint_owner(), refused);
  for (const auto& why : refused) fmt::print("checkpoint not used: {}\n", why);
  if (found)
    fmt::print("goes on after step {} from {}, {} into the run\n", found->progress().step, found->path().string(),
               format_seconds(found->progress().wall_s));
  std::fflush(stdout);
  return found;
}

// The run's key contains the data set's content, which may have changed since the run was planned. All of it is hashed again (of
// a packed set the index, which has a hash of every record): a file's size and time prove nothing.
void Job::require_same_data() const
{
  const auto folder = data_place();
  const auto found = data_id(planned_.spec.data, folder);
  if (found == planned_.data_id) return;
  throw Error(
      ErrorKind::run,
      fmt::format(
          "data set {}: {} has other content than when this run was planned: {} now, {} then. Put the old content back and "
          "retry, or submit the recipe again: it becomes a new run.",
          planned_.spec.data.name, folder.string(), found, printable(planned_.data_id)));
}

// The run's key contains the content of the start file, not its path.
void Job::require_same_start() const
{
  const auto& file = planned_.spec.train.start_from;
  if (start_id(file) != planned_.start_id)
    throw Error(ErrorKind::run, fmt::format("train.start_from: {} has another content than when this run was planned. Submit the "
                                            "recipe again: it becomes a new run.",
                                            file));
}

// Copies rank 0's progress to every rank. Collective.
std::optional<TrainingProgress> Job::share(const std::optional<CheckpointReader>& checkpoint) const
{
  static_assert(std::is_trivially_copyable_v<TrainingProgress>, "it goes from rank to rank as its bytes");
  TrainingProgress progress;
  std::string bytes;
  if (checkpoint) bytes.assign(reinterpret_cast<const char*>(&checkpoint->progress()), sizeof progress);
  bytes = comm_.broadcast_text(bytes);
  if (bytes.empty()) return std::nullopt;
  std::memcpy(&progress, bytes.data(), sizeof progress);
  return progress;
}

// Called once per second while there is the file `cancel`.
void Job::cancel()
{
  overseer_->cancel();
  if (cancelled_s_ == 0) cancelled_s_ = comm::monotonic_s();
  if (comm::monotonic_s() - cancelled_s_ > cancel_grace_s)
    end_at_once(fmt::format("cancelled; no step has come to its end for {}", format_duration(cancel_grace_s)));
}

// All timelines are complete before the result is written. A write error loses the timeline, not the run.
void Job::keep_timeline(const Trainer& trainer)
{
  try {
    trainer.write_timeline(attempt_);
  } catch (const Error& error) {
    say(fmt::format("rank {}: its timeline could not be kept: {}", comm_.rank(), error.what()));
  }
  comm_.barrier();
}

// A write error loses the record of the machines' load, not the run.
void Job::keep_load(const Trainer& trainer) const
{
  if (trainer.load().nodes.empty()) return;
  try {
    write_file_atomic(load_path(attempt_), to_json(trainer.load()));
  } catch (const Error& error) {
    say(fmt::format("the load of the machines could not be kept: {}", error.what()));
  }
}

// When rank 0 has gathered all records, every rank has finished. The other ranks wait here until the result is safe.
int Job::end_with(const RunResult& result)
{
  std::string refusal;
  if (writer_) {
    refusal = writer_->commit(result);
    refusal.empty() ? print_end(result) : say(refusal);
  }
  return comm_.broadcast_text(refusal).empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int Job::end_stopped(const Trainer& trainer)
{
  const bool cancelled = trainer.stopped_by().cancel;
  if (writer_ && cancelled) {
    writer_->close();
    say(fmt::format("cancelled after step {} of {}", trainer.steps_done(), trainer.plan().steps));
  } else if (writer_) {
    write_preemption(trainer);
  }
  comm_.barrier();
  return cancelled ? EXIT_FAILURE : EXIT_SUCCESS;
}

void Job::write_preemption(const Trainer& trainer)
{
  const Preemption preemption{.unix_s = now_unix_s(),
                              .step = trainer.steps_done(),
                              .steps = trainer.plan().steps,
                              .checkpoint = overseer_->latest_checkpoint(),
                              .signal = signal_name(trainer.stopped_by().time_limit ? SIGUSR1 : SIGTERM)};
  if (const auto refusal = writer_->preempt(preemption); !refusal.empty()) return say(refusal);
  fmt::print("stopped by {} after step {} of {}; {}\n", preemption.signal, preemption.step, preemption.steps,
             preemption.checkpoint.empty() ? "there is no checkpoint" : "the next attempt goes on from " + preemption.checkpoint);
}

void Job::fail(const std::string& cause, std::int64_t step)
{
  const auto error = own_error(comm_.rank(), cause, step);
  complain(error);
  try {
    if (ours_)
      if (const auto refusal = writer_ ? writer_->fail(error) : record_error(attempt_, error); !refusal.empty()) say(refusal);
  } catch (const std::exception& another) {
    complain(own_error(comm_.rank(), another.what(), step));
  }
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

} // namespace

int run_job(const JobOptions& options)
{
  hold_signals();
  StartTimes start;
  start.end("launch");
  const comm::MpiWorld world;
  start.end("MPI");
  comm::Communicator comm(MPI_COMM_WORLD);
  Job job(options, comm, start);
  try {
    return job.run();
  } catch (const TrainingError& error) {
    job.fail(error.what(), error.step());
  } catch (const std::exception& error) {
    job.fail(error.what(), -1);
  }
}

} // namespace dt::train
