// What a run leaves in its folder: the records, their files, and reading and writing them.
//
// The engine and the job script write; reconcile (jobs) and ingest (store) read. The grammar stands in ARCHITECTURE.md.
// Readers never fail on a torn or missing file: they return what is whole.
#pragma once

#include "core/run_key.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dt {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// ---- files of a run ------------------------------------------------------------------------------------------------

// <home>/runs/<key>/attempts/<n>: one try at a run. A later attempt never touches an earlier one's files.
class AttemptFolder {
public:
  AttemptFolder(const std::filesystem::path& run_folder, int number);
  explicit AttemptFolder(const std::filesystem::path& attempt_folder);
  const std::filesystem::path& path() const { return path_; }
  int number() const { return number_; }
  std::filesystem::path run_folder() const { return path_.parent_path().parent_path(); }

  std::filesystem::path script() const { return path_ / "job.sh"; }
  std::filesystem::path submission() const { return path_ / "submission.json"; } // dtctl: the intent, then the job's id
  std::filesystem::path deferred() const { return path_ / "deferred.json"; }     // dtctl: the scheduler has no room for it yet
  std::filesystem::path owner() const { return path_ / "owner.json"; }           // the one process that may run this attempt
  std::filesystem::path begin() const { return path_ / "begin.json"; }           // rank 0, after MPI_Init
  std::filesystem::path heartbeat() const { return path_ / "heartbeat"; }        // rank 0, about once a second
  std::filesystem::path events() const { return path_ / "events.log"; }          // rank 0, a line a step
  std::filesystem::path error() const { return path_ / "error.json"; }           // the first rank that fails
  std::filesystem::path result() const { return path_ / "result.json"; }         // rank 0, synced: the only evidence of success
  std::filesystem::path end() const { return path_ / "end"; }                    // the job script: exit status
  std::filesystem::path cancel() const { return path_ / "cancel"; }              // dtctl cancel: who asked, when
  std::filesystem::path stop_reason() const { return path_ / "stop_reason"; }    // the scheduler: "time_limit"
  std::filesystem::path reserve() const { return path_ / "reserve"; }            // rank 0: room kept for the last words on a full disk
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }    // rank 0: step-<n>.h5, the last two
  std::filesystem::path preempted() const { return path_ / "preempted.json"; }   // rank 0: stopped on request, and where to go on
  std::filesystem::path requeue() const { return path_ / "requeue"; }            // job script: the scheduler is to start it again
  std::filesystem::path settled() const { return path_ / "settled"; }            // dtctl: the scheduler holds its job no more
  std::filesystem::path launches() const { return path_ / "launches"; }          // job script: a line a launch of the ranks
  std::filesystem::path probe() const { return path_ / "probe.json"; }           // rank 0: how fast each rank's place is
  std::filesystem::path trace() const { return path_ / "trace"; }                // every rank: rank-<n>, its timeline
  std::filesystem::path dump() const { return path_ / "dump"; }                  // any rank: all are asked what they are doing
  std::filesystem::path states() const { return path_ / "states"; }              // every rank that was asked: rank-<n>
  std::filesystem::path stall() const { return path_ / "stall.json"; }           // rank 0: who has not arrived, and what all were doing
  std::filesystem::path out() const { return path_ / "stdout"; }
  std::filesystem::path err() const { return path_ / "stderr"; }

private:
  std::filesystem::path path_;
  int number_;
};

std::filesystem::path spec_path(const std::filesystem::path& run_folder);

// Numbers of the attempts in a run folder, ascending.
std::vector<int> attempt_numbers(const std::filesystem::path& run_folder);

// ---- spec.json ------------------------------------------------------------------------------------------------------

std::string to_json(const PlannedRun& run);
// An environment error that names the file when it is missing or not ours.
PlannedRun read_planned_run(const std::filesystem::path& run_folder);
// The same from the text of a spec.json; `origin` names it in errors.
PlannedRun parse_planned_run(std::string_view text, const std::string& origin);

// ---- submission.json, end, heartbeat, error.json, cancel ---------------------------------------------------------------

struct Submission {
  int attempt = 1;
  std::string token;      // random; with the key it recognises the job again
  std::string scheduler;  // of scheduler_names()
  std::string study;      // id of the study that asked for it
  double submitted_unix_s = 0;
  std::string job_id;     // empty: the intent is written, the answer is not known
  int restart = 0;        // how often the scheduler had started the job again when this attempt began
};

struct JobEnd {
  int exit_code = 0; // of the launcher; 128 + n when signal n ended it
  double unix_s = 0;
};

struct Heartbeat {
  double unix_s = 0;
  std::int64_t step = 0, steps = 0;
};

struct RankError {
  int rank = 0;
  std::string host;
  std::string cause;
  std::int64_t step = -1;
  double unix_s = 0;
};

// preempted.json: the run was told to stop before its end (time limit, preemption, node drained) and did so in order.
struct Preemption {
  double unix_s = 0;
  std::int64_t step = 0, steps = 0; // steps done, of how many
  std::string checkpoint;           // file name in checkpoints/; empty: none could be written
  std::string signal;               // what told it: "SIGUSR1"
};

// deferred.json: the scheduler refused the job because its user may have no more jobs in the queue now. The attempt and its
// intent stay, and a later call of dtctl hands the job over.
struct Deferral {
  double unix_s = 0;
  std::string reason;             // in the scheduler's words
  std::int64_t max_running = 0;   // of the submission (jobs::SubmitRules)
  std::vector<std::string> after; // ids of jobs that must have ended before it starts
};

// Lines of `launches`: "launch <number> <unix seconds> <exit code>\n", written when a launch of the ranks has ended.
struct Launch {
  int number = 1;
  double unix_s = 0;
  int exit_code = 0;
};

std::string to_json(const Preemption& preemption);
std::optional<Preemption> read_preemption(const AttemptFolder& attempt);
std::string to_json(const Deferral& deferral);
std::optional<Deferral> read_deferral(const AttemptFolder& attempt);
std::vector<Launch> read_launches(const AttemptFolder& attempt);

std::string to_json(const Submission& submission);
std::string to_json(const RankError& error);
std::string to_line(const Heartbeat& heartbeat);
std::optional<Submission> read_submission(const AttemptFolder& attempt);
std::optional<JobEnd> read_end(const AttemptFolder& attempt); // "exit <code> <unix seconds>\n"
std::optional<Heartbeat> read_heartbeat(const AttemptFolder& attempt);
std::optional<RankError> read_error(const AttemptFolder& attempt);

// ---- begin.json -------------------------------------------------------------------------------------------------------

struct BeginRecord {
  double unix_s = 0;
  std::string host; // of rank 0
  int pid = 0;
  int ranks = 0, nodes = 0, threads_per_rank = 0;
  std::vector<std::string> rank_hosts; // a rank
  std::vector<std::string> rank_masks; // cores each rank may use, "0-1,4"
  // cpu_model, mpi_version, dnnl_version, engine_version, engine_build, git_state, compiler, kernel, memory_bytes, modules, …
  std::map<std::string, std::string> environment;
};

std::string to_json(const BeginRecord& begin);
std::optional<BeginRecord> read_begin(const AttemptFolder& attempt);

// ---- probe.json -----------------------------------------------------------------------------------------------------

// A short measurement before the first step, to tell a slow or busy node from a slow program.
struct RankProbe {
  int rank = 0;
  std::string host;
  double clock_mhz = not_measured;   // of the core it ran on, as the kernel says
  double gemm_gflops = not_measured; // single-precision matrix product on this rank's threads
};

struct ProbeRecord {
  double unix_s = 0;
  double allreduce_s = not_measured; // median time of one allreduce of allreduce_bytes over all ranks
  std::int64_t allreduce_bytes = 0;
  std::vector<RankProbe> ranks;
};

std::string to_json(const ProbeRecord& probe);
std::optional<ProbeRecord> read_probe(const AttemptFolder& attempt);

// ---- events.log ---------------------------------------------------------------------------------------------------------

enum class Phase { input, forward, backward, communication, optimizer, evaluation };
inline constexpr std::array<std::string_view, 6> phase_names{"input", "forward", "backward", "communication", "optimizer", "evaluation"};
inline constexpr std::size_t phase_count = phase_names.size();

// One step as rank 0 saw it. Times in seconds.
struct StepEvent {
  std::int64_t step = 0;   // from 1
  double epoch = 0;        // samples of all ranks so far / samples of the training set
  double elapsed_s = 0;    // since the first step began, without evaluations
  double loss = 0;         // mean over the global batch
  double learning_rate = 0;
  double step_s = 0;       // wall time of the step
  std::array<double, phase_count> phase_s{}; // communication is the exposed part; evaluation is 0 here
};

// One evaluation on the held-out set, over all ranks.
struct EvalEvent {
  std::int64_t step = 0;
  double epoch = 0;
  double elapsed_s = 0; // training time so far, as in StepEvent
  double loss = 0;
  double accuracy = 0; // 0..1
  std::int64_t samples = 0;
  double eval_s = 0;
};

void append_line(std::string& text, const StepEvent& event);
void append_line(std::string& text, const EvalEvent& event);

using Event = std::variant<std::monostate, StepEvent, EvalEvent>; // monostate: not a line of ours
Event parse_event(std::string_view line);

// All whole lines of an events.log; a torn last line is left out.
struct Events {
  std::vector<StepEvent> steps;
  std::vector<EvalEvent> evals;
};
Events parse_events(std::string_view text);

// ---- result.json ----------------------------------------------------------------------------------------------------------

// Of one phase over the measured steps of one rank, in seconds.
struct PhaseStats {
  double total_s = 0, mean_s = 0, p50_s = 0, p95_s = 0, p99_s = 0, max_s = 0;
};

struct RankRecord {
  int rank = 0;
  std::string host;
  std::string role = "worker"; // or "server"
  std::array<PhaseStats, phase_count> phases{};
  PhaseStats step; // whole steps
  std::int64_t bytes_sent = 0;    // by the strategy's messages over the measured steps
  std::int64_t messages_sent = 0;
  std::int64_t memory_peak_bytes = 0; // high-water resident set
};

// How old the weights were that an asynchronous update was made of: updates of the centre by others between a worker's read
// and its own update. Over all updates of all servers.
struct Staleness {
  std::int64_t updates = 0; // 0: the strategy has none
  double mean = not_measured, p95 = not_measured, max = not_measured;
};

// Written once, synced, when all ranks agree that the run is done. Values that were not measured are NaN (null in JSON).
struct RunResult {
  double unix_s = 0;
  std::int64_t steps = 0, warmup_steps = 0;
  std::int64_t resumed_step = 0;     // this attempt went on from the checkpoint of this step; 0: it began at the beginning
  // Measured steps are those of all attempts, up to the checkpoint from which each was resumed; every attempt leaves out its own
  // warm-up.
  std::int64_t measured_samples = 0; // of all ranks, over the measured steps
  double measured_s = 0;             // slowest rank's time in them, without evaluations
  double throughput = 0;             // measured_samples / measured_s, samples/s
  double wall_s = 0;                 // from first step to last, evaluations included
  double communication_share = 0;    // exposed communication / step time, mean over workers, measured steps
  double isolated_communication_s = not_measured; // one step's communication with nothing beside it
  double final_loss = not_measured;     // training loss of the last step
  double eval_loss = not_measured;      // last evaluation
  double accuracy = not_measured;       // last evaluation
  double best_accuracy = not_measured;
  double time_to_accuracy_s = not_measured; // wall time until target_accuracy was first met
  // After the last step, of the models that the strategy has apart from the workers' common one.
  double accuracy_centre = not_measured, accuracy_worker = not_measured, accuracy_average = not_measured;
  Staleness staleness;
  std::map<std::string, std::string> facts; // found out by the run: "allreduce": "ring from 64 KiB up, else mpi"
  std::int64_t parameters = 0;
  std::string weights_hash; // of the final weights: equal runs end in equal bits
  std::vector<RankRecord> ranks;
};

std::string to_json(const RunResult& result);
std::optional<RunResult> read_result(const AttemptFolder& attempt);

// An attempt ends in one of two ways, and whoever creates result.json first decides: with its result, or fenced off by a later
// attempt that has taken its place. Both are exclusive and synced, and safe between machines that share the file system.
//
// False when the attempt was fenced off: the result counts for nothing and nothing was written.
bool commit_result(const AttemptFolder& attempt, const RunResult& result);
// False when there is a result already: then there is nothing to take over.
bool fence(const AttemptFolder& attempt, int successor);
// The attempt that took this one's place.
std::optional<int> fenced_by(const AttemptFolder& attempt);

// ---- states ---------------------------------------------------------------------------------------------------------------

enum class RunState {
  planned,
  submitted,
  queued,
  running,
  suspended,
  succeeded,
  failed,
  cancelled,
  timed_out,
  preempted,
  lost,
  unknown
};

std::string_view name_of(RunState state);
std::optional<RunState> run_state_of(std::string_view name);
// Nothing more will happen by itself.
bool is_final(RunState state);

} // namespace dt
