// The records of a run folder, and the functions that write and read one of them. AttemptReader (attempt_record.hpp) reads all
// records of an attempt.
//
// The engine and dtjob write the files; reconcile (jobs) and ingest (store) read them. docs/run-folder.md contains the
// grammar. Functions that read a file do not fail if it is missing or torn: they return the part that is complete, or nothing.
#pragma once

#include "core/maths/noise_scale.hpp"
#include "core/record/attempt_files.hpp"
#include "core/record/event_record.hpp"
#include "core/record/field.hpp"
#include "core/record/run_state.hpp"
#include "core/spec/run_key.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// ---- spec.json ------------------------------------------------------------------------------------------------------

std::filesystem::path spec_path(const std::filesystem::path& run_folder);
std::string to_json(const PlannedRun& run);
// Throws an environment error that names the file if spec.json is missing or has another format.
PlannedRun read_planned_run(const std::filesystem::path& run_folder);
// Like read_planned_run, from the text of a spec.json. Errors name `origin` as the file.
PlannedRun parse_planned_run(std::string_view text, const std::string& origin);

// ---- submission.json, end, heartbeat, error.json, cancel ---------------------------------------------------------------

struct Submission {
  int attempt = 1;
  std::string token;     // random; together with the run key it identifies the job
  std::string scheduler; // one of scheduler_names()
  std::string study;     // id of the study that requested the run
  double submitted_unix_s = 0;
  std::string job_id;               // empty: only the intent is recorded, the scheduler's answer is unknown
  int restart = 0;                  // how often the scheduler had already restarted the job when this attempt began
  std::int64_t launch_tries = 1;    // a launch of the ranks that dies before the first step is repeated, up to this many launches
  std::vector<std::string> after{}; // folders of runs that must have succeeded, or this attempt does not run
  std::string
      git_state{};       // of the recipe's folder at the submission: commit, and whether files were changed; empty: no repository
  std::string cluster{}; // to which the job was submitted; empty: the scheduler has only one, or it is not known
};

struct JobEnd {
  int exit_code = 0; // of the launcher; 128 + n if signal n ended it
  double unix_s = 0;
};

struct Heartbeat {
  double unix_s = 0;
  std::int64_t step = 0, steps = 0;
};

// Beginnings of what a rank says when its loss has diverged. `dtctl explain` recognises a divergence by them.
inline constexpr std::string_view loss_is_nan = "the loss is NaN", loss_is_infinite = "the loss is infinite";
// Beginning of the cause of a run that ended with a result although it diverged (RunResult::divergence).
inline constexpr std::string_view diverged_word = "diverged: ";

struct RankError {
  int rank = 0;
  std::string host;
  std::string cause;
  std::int64_t step = -1;
  double unix_s = 0;
};

// cause.json: why an attempt has no result. dtjob writes it when the job has ended, so that nobody has to read the words of
// programs and launchers again.
struct FailureCause {
  std::string kind; // a name of namespace cause_kind
  int rank = -1;    // the first rank that failed; -1: not known, or no rank
  std::string host; // its node, or the node that was lost; empty: not known
  std::string text; // one sentence for the user
};
namespace cause_kind {
inline constexpr std::string_view rank_error = "rank_error";   // a rank has told its error
inline constexpr std::string_view rank_killed = "rank_killed"; // a signal ended a rank
inline constexpr std::string_view rank_abort = "rank_abort";   // a rank called MPI_Abort
inline constexpr std::string_view rank_exit = "rank_exit";     // a rank ended with an exit code
inline constexpr std::string_view memory = "memory";           // the kernel ended a rank, because the job's memory ran out
inline constexpr std::string_view disk = "disk";               // the disk or a quota is full
inline constexpr std::string_view node = "node";               // a node was lost
inline constexpr std::string_view not_run = "not_run";         // the run was not started, or its job ended before it began
inline constexpr std::string_view removed = "removed";         // its folder was removed while it ran
inline constexpr std::string_view job_exit = "job_exit";       // nothing more than the job's exit code and last words is known
inline constexpr std::string_view no_end = "no_end";           // no end was recorded
inline constexpr std::string_view held_back = "held_back";     // cancelled, because others of its study failed; in no cause.json
inline constexpr std::string_view ended_early = "ended_early"; // cancelled, because it tried a hopeless setting; in no cause.json
} // namespace cause_kind

// preempted.json: the run was told to stop early (time limit, preemption, drained node) and stopped in an orderly way.
struct Preemption {
  double unix_s = 0;
  std::int64_t step = 0, steps = 0; // steps completed, and steps in all
  std::string checkpoint;           // file name in checkpoints/; empty: no checkpoint could be written
  std::string signal;               // the signal that told it to stop: "SIGUSR1"
};

// deferred.json: the scheduler refused the job because the user has too many jobs in the queue. The attempt and its intent
// remain, and a later call of dtctl submits the job.
struct Deferral {
  double unix_s = 0;
  std::string reason;             // the scheduler's message
  std::int64_t max_running = 0;   // copied from the submission (jobs::SubmitRules)
  std::vector<std::string> after; // ids of jobs that must end before this job starts
};

// One line of `launches`: "launch <number> <unix seconds> <exit code>\n", written when a launch of the ranks has ended.
struct Launch {
  int number = 1;
  double unix_s = 0;
  int exit_code = 0;
};

// cancel: "<unix seconds> <who>\n" or "<unix seconds> held back: <why>\n".
struct Cancellation {
  double unix_s = 0;
  std::string who;         // the user who cancelled the run; empty if dtctl did
  std::string_view kind{}; // of dtctl: cause_kind::held_back (jobs/follow/hold_back.hpp) or cause_kind::ended_early; else empty
  std::string why{};       // of dtctl
};
// How a kind of cancellation is written in the file and in causes: "held back" for cause_kind::held_back. Empty for another kind.
std::string_view words_of_cancellation(std::string_view kind);

// One line of `asked`.
struct Wish {
  double unix_s = 0;
  std::string verb;   // cancel_verb or requeue_verb
  std::string answer; // the scheduler's words, or accepted_answer
};
inline constexpr std::string_view cancel_verb = "cancel", requeue_verb = "requeue", accepted_answer = "accepted";

std::string to_line(const Cancellation& cancellation);
std::string to_line(const Wish& wish);
std::string to_json(const FailureCause& cause);
std::string to_json(const Preemption& preemption);
std::optional<Preemption> read_preemption(const AttemptFolder& attempt);
std::string to_json(const Deferral& deferral);
std::optional<Deferral> read_deferral(const AttemptFolder& attempt);
std::vector<Launch> read_launches(const AttemptFolder& attempt);

std::string to_json(const Submission& submission);
std::string to_json(const RankError& error);
std::string to_line(const Heartbeat& heartbeat);
std::string to_line(const JobEnd& end);
std::string to_line(const Launch& launch);
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
  std::vector<std::string> rank_hosts; // one entry per rank
  std::vector<std::string> rank_masks; // one entry per rank: the cores it may use, "0-1,4"
  // cpu_model, mpi_version, dnnl_version, engine_version, engine_build, git_state, compiler, kernel, memory_bytes, modules, …
  std::map<std::string, std::string> environment;
};

std::string to_json(const BeginRecord& begin);
std::optional<BeginRecord> read_begin(const AttemptFolder& attempt);

// ---- probe.json -----------------------------------------------------------------------------------------------------

// A short measurement before the first step that distinguishes a slow or busy node from a slow program.
struct RankProbe {
  int rank = 0;
  std::string host;
  double clock_mhz = not_measured;   // of the core that the rank ran on, as the kernel reports it
  double gemm_gflops = not_measured; // speed of a single-precision matrix product on this rank's threads
};

struct ProbeRecord {
  double unix_s = 0;
  double allreduce_s = not_measured; // median time of one allreduce of allreduce_bytes over all ranks
  std::int64_t allreduce_bytes = 0;
  std::vector<RankProbe> ranks;
};

std::string to_json(const ProbeRecord& probe);
std::optional<ProbeRecord> read_probe(const AttemptFolder& attempt);

// ---- result.json ----------------------------------------------------------------------------------------------------------

// Times of one phase over the measured steps of one rank.
struct PhaseStats {
  double total_s = 0, mean_s = 0, p50_s = 0, p95_s = 0, p99_s = 0, max_s = 0;
};

struct RankRecord {
  int rank = 0;
  std::string host;
  std::string role = "worker"; // "worker" or "server"
  std::array<PhaseStats, phase_count> phases{};
  PhaseStats step;             // of whole steps
  std::int64_t bytes_sent = 0; // in the strategy's messages over the measured steps
  std::int64_t messages_sent = 0;
  std::int64_t memory_peak_bytes = 0; // maximum resident set size
  // Over the intervals (see WorkSums) in which this rank was the last to finish its work: the time by which it exceeded the mean
  // of all workers.
  double late_s = not_measured;
};

// Sums over the measured steps, from which the loss of efficiency is attributed (store/analysis/attribution.hpp). u is the useful
// time of a worker in a step (forward, backward, update), i its wait for input.
//
// The maxima are taken per interval: the steps from one meeting of all workers to the next (Strategy::meets). With sync-sgd an
// interval is a step, with a period of tau steps it is tau steps, and for asynchronous strategies it is the whole attempt, or the
// part of it between two checkpoints. Of a run that was resumed, each figure is the sum over its attempts.
struct WorkSums {
  double useful_s = 0;          // u, summed over steps and workers
  double useful_max_s = 0;      // the largest sum of u of any worker
  double useful_step_max_s = 0; // sum over the intervals of the largest u of any worker
  double busy_step_max_s = 0;   // sum over the intervals of the largest u + i of any worker
  // The same of a fast worker instead of all workers (core/record/measuring/fast_worker.hpp). NaN: not measured.
  double useful_fast_s = not_measured;      // the lower quartile of the workers' sums of u
  double useful_step_fast_s = not_measured; // the lower quartile of u in each window of intervals, summed
  // Sum over the intervals of the largest u + i + time between epochs of any worker. NaN: not measured.
  double paused_step_max_s = not_measured;
  // The same of all time of a worker but its communication. NaN: not measured.
  double occupied_step_max_s = not_measured;
  // Time of pauses in u (FastSteps). NaN: not measured.
  double common_pauses_s = not_measured;
  double pauses_s = not_measured;
};
// Sums of a run whose ranks did not report them.
inline constexpr WorkSums no_work_sums{not_measured, not_measured, not_measured, not_measured};

// Time in the measured steps of an observed program between two epochs: from the last update or backward pass to the next batch,
// if a pass through a DataLoader, an evaluation or a checkpoint lies in between. Evaluations are no part of it. Means over the
// ranks; NaN: not measured.
struct BetweenEpochs {
  double loader_s = not_measured;     // DataLoaders open and end
  double checkpoint_s = not_measured; // torch.save()
  double other_s = not_measured;
};

// Staleness of asynchronous updates, over all updates of all servers. The staleness of an update is the number of updates that
// other workers made to the centre between a worker's read and its own update.
struct Staleness {
  std::int64_t updates = 0; // 0: the strategy has no asynchronous updates
  double mean = not_measured, p95 = not_measured, max = not_measured;
};

// A part of the gradients that is summed at once, and when it is complete. Means over the measured steps, on rank 0.
struct BucketRecord {
  std::int64_t bytes = 0;        // of the gradients, before any compression
  double ready_s = not_measured; // from the begin of the step's computation, with the wait for its input
  double lead_s = not_measured;  // from then to the end of the backward pass
};

// FLOPs of a sample of the training, and the device and precision of its ranks. dtengine computes them from its network, the
// observer of a PyTorch program counts it (share/dtctl/program/dtctl_measure/flops.py).
struct RunFlops {
  double per_sample = not_measured; // forward and backward pass; a multiply-add is 2 FLOPs
  std::string precision;            // "fp32", "tf32", "fp16", "bf16", "fp8"; empty: not known
  std::string device;               // of a worker: "cpu", or the GPU's name; empty: not known, or simulated
  double matmul = not_measured; // FLOP/s of products of large matrices in this precision on one such device, measured by the run
};

// How much of a GPU worked, as its own counters say (NVML's GPM, from Hopper on): shares of the time and of its units, 0..1.
struct GpuActivity {
  double sm_busy = not_measured;          // multiprocessors with work
  double occupancy = not_measured;        // warps that were active, of those that fit
  double tensor_busy = not_measured;      // tensor cores
  double memory_bandwidth = not_measured; // of its memory's peak
};

// Energy and memory of all nodes, and what their GPUs did, as dtjob measured it beside the program (energy_record.hpp).
struct RunEnergy {
  double seconds = not_measured;
  double joules = not_measured, host_joules = not_measured, gpu_joules = not_measured;
  double joules_per_sample = not_measured, watts = not_measured;
  std::int64_t gpus = not_counted;
  double gpu_busy = not_measured, gpu_clock_mhz = not_measured;
  GpuActivity gpu_activity; // mean of the GPUs
  std::int64_t gpu_memory_peak_bytes = not_counted, host_memory_peak_bytes = not_counted;
  double peak_flops = not_measured; // FLOP/s of all devices of the workers (device_peak.hpp)
  TextMap facts;                    // over which time it was measured, of what, and why a figure is missing
};

// Name of a fact of a run (RunResult::facts) whose GPUs sum over the ranks, by NCCL; sync.allreduce is not used then.
inline constexpr std::string_view device_sums_fact = "sums";

// Written once and synced, when all ranks agree that the run is complete. Values that were not measured are null in JSON.
struct RunResult {
  double unix_s = 0;
  std::int64_t steps = 0, warmup_steps = 0;
  std::int64_t resumed_step = 0; // step of the checkpoint from which this attempt continued; 0: it started from the beginning
  // The measured steps are those of all attempts, each up to the checkpoint from which the next attempt continued. Every attempt
  // leaves out its own warm-up steps.
  std::int64_t measured_samples = 0;              // of all ranks, over the measured steps
  double measured_s = 0;                          // time of the slowest rank in the measured steps, without evaluations
  double throughput = 0;                          // measured_samples / measured_s, in samples/s
  double step_samples = not_measured;             // of all workers in one measured step, as a program of the user reports them
  double wall_s = 0;                              // from the first step to the last, with evaluations
  double communication_share = 0;                 // exposed communication / step time, mean over workers, measured steps
  double isolated_communication_s = not_measured; // communication time of one step without concurrent computation
  WorkSums work = no_work_sums;
  BetweenEpochs between;
  double lone_compute_s = not_measured; // forward and backward pass of a batch on rank 0 while all other ranks sleep
  double choice_s = not_measured;       // time that the choice of the convolutions' algorithms took; 0: not timed
  NoiseScale noise;                     // in samples, over the measured steps since resumed_step
  Reported final_loss;                  // training loss of the last step
  Reported eval_loss;                   // from the last evaluation
  Reported accuracy;                    // from the last evaluation
  double best_accuracy = not_measured;
  double time_to_accuracy_s = not_measured; // wall time until the accuracy first reached target_accuracy
  std::int64_t samples_to_accuracy = 0;     // samples of all ranks until then; 0: not reached
  // The first step from which on the loss was NaN or infinite until the end; not_counted: the run did not diverge. And why, in
  // words: "the loss is NaN from step 10 on" (divergence.hpp).
  std::int64_t diverged_step = not_counted;
  std::string divergence;
  std::int64_t not_finite_steps = 0; // steps with a training loss of NaN or infinity, also if the run did not diverge
  // Measured after the last step, for each of these models that the strategy keeps separately.
  double accuracy_centre = not_measured, accuracy_worker = not_measured, accuracy_average = not_measured;
  Staleness staleness;
  std::map<std::string, std::string> facts; // facts determined during the run: "allreduce": "ring from 64 KiB up, else mpi"
  TextMap caveats;                          // what limits the measurement, by kind (caveats.hpp)
  std::int64_t parameters = 0;
  RunFlops flops;
  std::int64_t replaced_samples = 0; // samples of all ranks that could not be decoded (data.corrupt: skip), since resumed_step
  std::string weights_hash;          // hash of the final weights: equal runs end with equal bits
  RunEnergy energy;                  // in energy.json
  std::vector<RankRecord> ranks;
  std::vector<BucketRecord> buckets; // in the order of their sums; empty: the strategy sums no gradients
};

std::string to_json(const RunResult& result);
std::optional<RunResult> read_result(const AttemptFolder& attempt);

// How an attempt ended, from one look at result.json: with a result, fenced off by a later attempt, or neither.
struct Outcome {
  std::optional<RunResult> result;
  std::optional<int> fenced_by; // number of the attempt that took this one's place
};
Outcome read_outcome(const AttemptFolder& attempt);

// An attempt ends in one of two ways: with its result, or fenced off by a later attempt that replaces it. Whoever creates
// result.json first decides. Both functions create the file exclusively and sync it, which is safe between machines that share
// the file system.
//
// Returns false if the attempt was fenced off: the result does not count and nothing was written.
bool commit_result(const AttemptFolder& attempt, const RunResult& result);
// Returns false if a result exists already: then the attempt must not be replaced.
bool fence(const AttemptFolder& attempt, int successor);
// The number of the attempt that replaced this one; nothing if none did.
std::optional<int> fenced_by(const AttemptFolder& attempt);

} // namespace dt
