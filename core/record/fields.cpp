#include "core/record/fields.hpp"

#include <algorithm>
#include <cmath>

namespace dt {
namespace {

using enum Presence;

// A member of a record, as rows name it.
#define DT_AT(Record, member) &member_of<Record, &Record::member>

double slowest_step_p50_s(const RunResult& result)
{
  double slowest = not_measured;
  for (const auto& rank : result.ranks) slowest = std::fmax(slowest, rank.step.p50_s);
  return slowest;
}

template<std::int64_t RankRecord::*figure> std::int64_t sum_over_ranks(const RunResult& result)
{
  std::int64_t sum = 0;
  for (const auto& rank : result.ranks) {
    if (rank.*figure == not_counted) return not_counted;
    sum += rank.*figure;
  }
  return sum;
}

std::int64_t largest_memory_peak(const RunResult& result)
{
  std::int64_t largest = 0;
  for (const auto& rank : result.ranks) {
    if (rank.memory_peak_bytes == not_counted) return not_counted;
    largest = std::max(largest, rank.memory_peak_bytes);
  }
  return largest;
}

double model_flops(const RunResult& result) { return result.throughput * result.flops.per_sample; }

double model_flops_utilisation(const RunResult& result) { return model_flops(result) / result.energy.peak_flops; }

// The time of a phase in a step.
template<Phase phase> double& phase_time(StepEvent& event) { return event.phase_s[static_cast<std::size_t>(phase)]; }

} // namespace

Fields<Submission> submission_fields()
{
  using R = Submission;
  static const Field<R> fields[]{
      {"attempt", DT_AT(R, attempt), "", "number of the attempt, from 1"},
      {"token", DT_AT(R, token), "", "random; with the run's key it identifies the job"},
      {"scheduler", DT_AT(R, scheduler), "", "\"local\" or \"slurm\""},
      {"study", DT_AT(R, study), "", "id of the study that asked for the run", required, "study_key"},
      {"submitted_unix_s", DT_AT(R, submitted_unix_s), "s", "when dtctl handed the job over"},
      {"launch_tries", DT_AT(R, launch_tries), "", "launches of the ranks in all, if they die before the first step"},
      {"after", DT_AT(R, after), "", "folders of runs that must have succeeded before this one may run"},
      {"job_id", DT_AT(R, job_id), "", "the scheduler's id of the job; empty: the scheduler's answer is not known"},
      {"cluster", DT_AT(R, cluster), "", "name of the cluster to which the job was submitted; empty: this machine, or not known"},
      {"restart", DT_AT(R, restart), "", "how often the scheduler had started the job again when the attempt began"},
      {"git_state", DT_AT(R, git_state), "", "commit of the recipe's folder at the submission, and whether files were changed"},
  };
  return fields;
}

Fields<Deferral> deferral_fields()
{
  using R = Deferral;
  static const Field<R> fields[]{
      {"unix_s", DT_AT(R, unix_s), "s", "when the scheduler refused the job for want of room"},
      {"reason", DT_AT(R, reason), "", "the scheduler's reason"},
      {"max_running", DT_AT(R, max_running), "", "--max-jobs of the submission; 0: none"},
      {"after", DT_AT(R, after), "", "ids of the jobs that must end before this job starts"},
  };
  return fields;
}

Fields<BeginRecord> begin_fields()
{
  using R = BeginRecord;
  static const Field<R> fields[]{
      {"unix_s", DT_AT(R, unix_s), "s", "when MPI was up on all ranks", required, "begin_unix_s"},
      {"host", DT_AT(R, host), "", "host of rank 0"},
      {"pid", DT_AT(R, pid), "", "process of rank 0"},
      {"ranks", DT_AT(R, ranks), "", "ranks that were started"},
      {"nodes", DT_AT(R, nodes), "", "nodes they run on"},
      {"threads_per_rank", DT_AT(R, threads_per_rank), "", "compute threads of each rank"},
      {"rank_hosts", DT_AT(R, rank_hosts), "", "host of each rank"},
      {"rank_masks", DT_AT(R, rank_masks), "", "cores that each rank may use, \"0-1,4\""},
      {"environment", DT_AT(R, environment), "", "versions, compiler, processor, kernel, modules of rank 0"},
  };
  return fields;
}

Fields<RankError> error_fields()
{
  using R = RankError;
  static const Field<R> fields[]{
      {"rank", DT_AT(R, rank), "", "the first rank that failed", required, "error_rank"},
      {"host", DT_AT(R, host), "", "its host", required, "error_host"},
      {"cause", DT_AT(R, cause), "", "what went wrong", required, "error_cause"},
      {"step", DT_AT(R, step), "", "the last step it began; -1: none", required, "error_step"},
      {"unix_s", DT_AT(R, unix_s), "s", "when it failed", required, "error_unix_s"},
  };
  return fields;
}

Fields<FailureCause> failure_cause_fields()
{
  using R = FailureCause;
  static const Field<R> fields[]{
      {"kind", DT_AT(R, kind), "",
       "rank_error, rank_killed, rank_abort, rank_exit, memory, disk, node, not_run, removed, job_exit (only the job's exit code "
       "and last words are known) or no_end"},
      {"rank", DT_AT(R, rank), "", "the first rank that failed; -1: not known, or no rank"},
      {"host", DT_AT(R, host), "", "its node, or the node that was lost; empty: not known"},
      {"text", DT_AT(R, text), "", "one sentence for the user"},
  };
  return fields;
}

Fields<Preemption> preemption_fields()
{
  using R = Preemption;
  static const Field<R> fields[]{
      {"unix_s", DT_AT(R, unix_s), "s", "when the run stopped on request"},
      {"step", DT_AT(R, step), "", "steps that were done when it stopped on request", required, "preempted_step"},
      {"steps", DT_AT(R, steps), "", "steps of the whole run"},
      {"checkpoint", DT_AT(R, checkpoint), "", "file name of the checkpoint that was kept; empty: none"},
      {"signal", DT_AT(R, signal), "", "the signal that asked for it", required, "preempted_signal"},
  };
  return fields;
}

Fields<StepEvent> step_event_fields()
{
  using R = StepEvent;
  static const Field<R> fields[]{
      {"step", DT_AT(R, step), "", "number of the step, from 1"},
      {"epoch", DT_AT(R, epoch), "", "samples of all ranks so far, divided by the samples of the training set"},
      {"elapsed_s", DT_AT(R, elapsed_s), "s", "time since the first step began, without evaluations and checkpoints"},
      {"loss", DT_AT(R, loss), "",
       "mean over the global batch. Where ranks make steps of their own (`local-sgd`, `diloco`, the EASGD family, asynchronous "
       "strategies): over "
       "rank 0's own batch, but at steps before an evaluation the mean over all workers"},
      {"learning_rate", DT_AT(R, learning_rate), "", "learning rate of the step"},
      {"step_s", DT_AT(R, step_s), "s", "wall time of the step on rank 0, as are its phases"},
      {"input_s", &phase_time<Phase::input>, "s", "waiting for the batch"},
      {"forward_s", &phase_time<Phase::forward>, "s", "forward pass"},
      {"backward_s", &phase_time<Phase::backward>, "s", "backward pass"},
      {"communication_s", &phase_time<Phase::communication>, "s", "exposed communication: what no computation hides"},
      {"optimizer_s", &phase_time<Phase::optimizer>, "s", "update of the weights"},
  };
  return fields;
}

Fields<EvalEvent> eval_event_fields()
{
  using R = EvalEvent;
  static const Field<R> fields[]{
      {"step", DT_AT(R, step), "", "step after which the model was evaluated"},
      {"epoch", DT_AT(R, epoch), "", "samples of all ranks so far, divided by the samples of the training set"},
      {"elapsed_s", DT_AT(R, elapsed_s), "s", "time since the first step began, without evaluations and checkpoints"},
      {"loss", DT_AT(R, loss), "", "mean loss on the held-out set"},
      {"accuracy", DT_AT(R, accuracy), "0..1", "share of correct answers on the held-out set"},
      {"samples", DT_AT(R, samples), "", "samples of the held-out set"},
      {"eval_s", DT_AT(R, eval_s), "s", "wall time of the evaluation"},
      {"noise_scale", DT_AT(R, noise_scale), "samples",
       "gradient noise scale over the looks since the last evaluation that has one; `NULL`: not measured, fewer than 16 looks, "
       "or no gradient was found in the noise",
       Presence::later},
  };
  return fields;
}

Fields<RunResult> result_fields()
{
  using R = RunResult;
  static const Field<R> fields[]{
      {"throughput", DT_AT(R, throughput), "samples/s", "measured_samples divided by measured_s"},
      {"communication_share", DT_AT(R, communication_share), "0..1",
       "exposed communication divided by step time, over the measured steps; mean over the workers"},
      {"accuracy", DT_AT(R, accuracy), "0..1", "share of correct answers on the held-out set, last evaluation"},
      {"best_accuracy", DT_AT(R, best_accuracy), "0..1", "best of all evaluations"},
      {"time_to_accuracy_s", DT_AT(R, time_to_accuracy_s), "s",
       "time from the first step until train.target_accuracy was met first, evaluations included"},
      {"samples_to_accuracy", DT_AT(R, samples_to_accuracy), "samples",
       "samples of all ranks until train.target_accuracy was met first; 0: not met", required, "", true},
      {"final_loss", DT_AT(R, final_loss), "", "training loss of the last step, mean over all workers"},
      {"eval_loss", DT_AT(R, eval_loss), "", "loss on the held-out set, last evaluation"},
      {"diverged_step", DT_AT(R, diverged_step), "",
       "first step from which on the loss (of the training or on the held-out set) was NaN or infinite until the end; `NULL`: "
       "the run did not diverge"},
      {"divergence", DT_AT(R, divergence), "", "the same in words; empty: the run did not diverge"},
      {"not_finite_steps", DT_AT(R, not_finite_steps), "",
       "steps whose training loss was NaN or infinite, also of a run that did not diverge", required, "", true},
      {"noise_scale", &member_of<R, &R::noise, &NoiseScale::value>, "samples",
       "gradient noise scale tr(Sigma)/|G|^2 [McCandlish2018]: the batch whose mean gradient has as much noise as signal; over "
       "the measured steps since resumed_step that train.noise_scale looks at; `NULL`: not measured, or no gradient was found in "
       "the noise",
       Presence::later},
      {"noise_scale_low", &member_of<R, &R::noise, &NoiseScale::low>, "samples",
       "lower end of its 95 % interval; `NULL`: fewer than 16 steps were looked at", Presence::later},
      {"noise_scale_high", &member_of<R, &R::noise, &NoiseScale::high>, "samples",
       "upper end of it; `NULL` beside a lower end: there is none, because the noise hides the gradient", Presence::later},
      {"wall_s", DT_AT(R, wall_s), "s", "time from the first step to the last, evaluations included"},
      {"step_p50_s", &slowest_step_p50_s, "s", "median time of a step, on the slowest rank", computed},
      {"isolated_communication_s", DT_AT(R, isolated_communication_s), "s",
       "one step's communication with no computation beside it; of a strategy with servers, one worker's exchange alone"},
      {"work.useful_s", &member_of<R, &R::work, &WorkSums::useful_s>, "s",
       "useful time (forward, backward, update) of all workers in the measured steps"},
      {"work.useful_max_s", &member_of<R, &R::work, &WorkSums::useful_max_s>, "s", "useful time of the worker with the most"},
      {"work.useful_step_max_s", &member_of<R, &R::work, &WorkSums::useful_step_max_s>, "s",
       "sum over the intervals between meetings of all workers of the largest useful time of any worker"},
      {"work.busy_step_max_s", &member_of<R, &R::work, &WorkSums::busy_step_max_s>, "s",
       "the same sum, of useful time and wait for input"},
      {"work.useful_fast_s", &member_of<R, &R::work, &WorkSums::useful_fast_s>, "s",
       "useful time of a fast worker: the lower quartile of the workers' sums, of up to four workers the least"},
      {"work.useful_step_fast_s", &member_of<R, &R::work, &WorkSums::useful_step_fast_s>, "s",
       "sum over windows of about 16 such intervals: their number times the lower quartile of the useful times of all workers in "
       "them"},
      {"work.paused_step_max_s", &member_of<R, &R::work, &WorkSums::paused_step_max_s>, "s",
       "sum over the intervals of the largest useful time, wait for input and time between epochs of any worker",
       Presence::later},
      {"work.occupied_step_max_s", &member_of<R, &R::work, &WorkSums::occupied_step_max_s>, "s",
       "sum over the intervals of the most time of any worker that is not communication, time outside of all phases included",
       Presence::later},
      {"work.common_pauses_s", &member_of<R, &R::work, &WorkSums::common_pauses_s>, "s",
       "time by which the workers exceed their usual useful time in intervals in which they are much slower together",
       Presence::later},
      {"work.pauses_s", &member_of<R, &R::work, &WorkSums::pauses_s>, "s",
       "the same in intervals in which at least one worker is much slower; mean over the workers", Presence::later},
      {"between.loader_s", &member_of<R, &R::between, &BetweenEpochs::loader_s>, "s",
       "time between epochs in the measured steps of an observed program, in which DataLoaders open and end; mean over the "
       "ranks",
       Presence::later},
      {"between.checkpoint_s", &member_of<R, &R::between, &BetweenEpochs::checkpoint_s>, "s", "the same, in torch.save()",
       Presence::later},
      {"between.other_s", &member_of<R, &R::between, &BetweenEpochs::other_s>, "s", "the rest of that time", Presence::later},
      {"lone_compute_s", DT_AT(R, lone_compute_s), "s",
       "forward and backward pass of one batch on rank 0 while all other ranks sleep, median of a few after the last step"},
      {"choice_s", DT_AT(R, choice_s), "s",
       "time in which the algorithms of the convolutions were chosen, before the first step (train.algorithms)"},
      {"accuracy_centre", DT_AT(R, accuracy_centre), "0..1", "accuracy of the centre model after the last step"},
      {"accuracy_worker", DT_AT(R, accuracy_worker), "0..1", "accuracy of the first worker's model after the last step"},
      {"accuracy_average", DT_AT(R, accuracy_average), "0..1", "accuracy of the mean of the workers' models after the last step"},
      {"staleness.updates", &member_of<R, &R::staleness, &Staleness::updates>, "",
       "updates of the centre by workers of an asynchronous strategy; 0: the strategy has none", required, "", true},
      {"staleness.mean", &member_of<R, &R::staleness, &Staleness::mean>, "updates",
       "mean number of updates by others between a worker's read and its own update"},
      {"staleness.p95", &member_of<R, &R::staleness, &Staleness::p95>, "updates", "95 % quantile of that number"},
      {"staleness.max", &member_of<R, &R::staleness, &Staleness::max>, "updates", "largest such number"},
      {"facts", DT_AT(R, facts), "", "what the run found out, by name: the allreduce that was chosen, for example"},
      {"caveats", DT_AT(R, caveats), "", "what limits the measurement, a sentence for each kind; results print them",
       Presence::later},
      {"steps", DT_AT(R, steps), "", "steps that were done"},
      {"warmup_steps", DT_AT(R, warmup_steps), "", "steps at the beginning of each attempt that are not measured"},
      {"resumed_step", DT_AT(R, resumed_step), "", "step of the checkpoint from which the attempt went on; 0: it began at step 1",
       required, "", true},
      {"measured_samples", DT_AT(R, measured_samples), "", "samples of all ranks in the measured steps of all attempts"},
      {"step_samples", DT_AT(R, step_samples), "samples",
       "samples of all workers in one step, the sum of each worker's mean over its measured steps, as a program of your own "
       "reports them; where the ranks are copies of one training, those of one; `NULL`: not known, or a run of dtengine, whose "
       "steps have global_batch",
       Presence::later},
      {"measured_s", DT_AT(R, measured_s), "s", "the slowest rank's time in the measured steps, without evaluations"},
      {"bytes_sent", &sum_over_ranks<&RankRecord::bytes_sent>, "bytes", "sent by all ranks in the measured steps", computed},
      {"messages_sent", &sum_over_ranks<&RankRecord::messages_sent>, "", "messages of all ranks in the measured steps", computed},
      {"memory_peak_bytes", &largest_memory_peak, "bytes", "largest resident set of any rank", computed},
      {"energy.seconds", &member_of<R, &R::energy, &RunEnergy::seconds>, "s",
       "time for which energy and GPUs were measured; energy_facts says which time it is", Presence::energy},
      {"energy.joules", &member_of<R, &R::energy, &RunEnergy::joules>, "J",
       "energy of hosts and GPUs in that time, of what could be measured (energy_facts); `NULL`: neither could",
       Presence::energy},
      {"energy.host_joules", &member_of<R, &R::energy, &RunEnergy::host_joules>, "J",
       "of the processors' packages and, where it is counted, their memory: all that ran on them, also by others; `NULL`: not "
       "measured on all nodes",
       Presence::energy},
      {"energy.gpu_joules", &member_of<R, &R::energy, &RunEnergy::gpu_joules>, "J",
       "of the GPUs of the ranks; of all of a node's GPUs, if theirs are not known", Presence::energy},
      {"energy.joules_per_sample", &member_of<R, &R::energy, &RunEnergy::joules_per_sample>, "J",
       "energy_watts divided by throughput", Presence::energy},
      {"energy.watts", &member_of<R, &R::energy, &RunEnergy::watts>, "W", "energy_joules divided by the time, summed over nodes",
       Presence::energy},
      {"energy.gpus", &member_of<R, &R::energy, &RunEnergy::gpus>, "", "GPUs that were measured", Presence::energy},
      {"energy.gpu_busy", &member_of<R, &R::energy, &RunEnergy::gpu_busy>, "0..1",
       "share of the time in which a GPU ran a kernel, mean of the GPUs", Presence::energy, "gpu_busy"},
      {"energy.gpu_sm_busy", &member_of<R, &R::energy, &RunEnergy::gpu_activity, &GpuActivity::sm_busy>, "0..1",
       "share of the GPUs' multiprocessors that had work, mean; `NULL`: the GPUs do not count it (before Hopper)",
       Presence::energy, "gpu_sm_busy"},
      {"energy.gpu_occupancy", &member_of<R, &R::energy, &RunEnergy::gpu_activity, &GpuActivity::occupancy>, "0..1",
       "warps that were active on the GPUs, as a share of those that fit, mean", Presence::energy, "gpu_occupancy"},
      {"energy.gpu_tensor_busy", &member_of<R, &R::energy, &RunEnergy::gpu_activity, &GpuActivity::tensor_busy>, "0..1",
       "share of the time in which the GPUs' tensor cores worked, mean", Presence::energy, "gpu_tensor_busy"},
      {"energy.gpu_memory_bandwidth", &member_of<R, &R::energy, &RunEnergy::gpu_activity, &GpuActivity::memory_bandwidth>, "0..1",
       "used share of the bandwidth of the GPUs' memory, mean", Presence::energy, "gpu_memory_bandwidth"},
      {"energy.gpu_clock_mhz", &member_of<R, &R::energy, &RunEnergy::gpu_clock_mhz>, "MHz",
       "clock of the GPUs' multiprocessors, mean", Presence::energy, "gpu_clock_mhz"},
      {"energy.gpu_memory_peak_bytes", &member_of<R, &R::energy, &RunEnergy::gpu_memory_peak_bytes>, "bytes",
       "most memory in use on any GPU, by all processes; a look a second", Presence::energy, "gpu_memory_peak_bytes"},
      {"energy.host_memory_peak_bytes", &member_of<R, &R::energy, &RunEnergy::host_memory_peak_bytes>, "bytes",
       "most memory in use on any node: of the job's control group if it has one, else the sum of the largest resident sets of "
       "its ranks",
       Presence::energy, "host_memory_peak_bytes"},
      {"energy.peak_flops", &member_of<R, &R::energy, &RunEnergy::peak_flops>, "FLOP/s",
       "peak of all processors that the workers compute on, for dense matrices in flops_precision: by the data sheet of the GPU, "
       "or products of matrices that the run has measured; energy_facts has the source",
       Presence::energy, "peak_flops"},
      {"energy.facts", &member_of<R, &R::energy, &RunEnergy::facts>, "",
       "over which time energy was measured, of what, what held the GPUs' clocks back, what the peak is, and why a figure is "
       "`NULL`",
       Presence::energy},
      {"flops.per_sample", &member_of<R, &R::flops, &RunFlops::per_sample>, "FLOP",
       "of one sample's forward and backward pass: convolutions, products of matrices and attention; a multiply-add is 2; "
       "`NULL`: "
       "not known (facts)"},
      {"flops.precision", &member_of<R, &R::flops, &RunFlops::precision>, "",
       "precision of most of these operations: fp32, tf32, fp16, bf16, fp8"},
      {"flops.device", &member_of<R, &R::flops, &RunFlops::device>, "",
       "what a worker computes on: cpu, or the name of its GPU; empty: not known, or simulated"},
      {"flops.matmul", &member_of<R, &R::flops, &RunFlops::matmul>, "FLOP/s",
       "products of large matrices in this precision on one such device, measured by the run: on a processor with the threads of "
       "a rank"},
      {"model_flops", &model_flops, "FLOP/s", "throughput times flops_per_sample", computed},
      {"mfu", &model_flops_utilisation, "0..1", "model FLOPs utilisation: model_flops divided by peak_flops", computed},
      {"parameters", DT_AT(R, parameters), "", "trained numbers of the model"},
      {"replaced_samples", DT_AT(R, replaced_samples), "samples",
       "how often a sample could not be decoded and the next one took its place (data.corrupt: skip), since resumed_step",
       required, "", true},
      {"weights_hash", DT_AT(R, weights_hash), "", "hash of the final weights: equal runs end in equal bits"},
      {"unix_s", DT_AT(R, unix_s), "s", "when the result was written", required, "finished_unix_s"},
  };
  return fields;
}

Fields<RankRecord> rank_fields()
{
  using R = RankRecord;
  static const Field<R> fields[]{
      {"rank", DT_AT(R, rank), "", "number of the rank"},
      {"host", DT_AT(R, host), "", "host it ran on"},
      {"role", DT_AT(R, role), "", "\"worker\" or \"server\""},
      {"bytes_sent", DT_AT(R, bytes_sent), "bytes", "sent by the strategy in the measured steps"},
      {"messages_sent", DT_AT(R, messages_sent), "", "messages of the strategy in the measured steps"},
      {"memory_peak_bytes", DT_AT(R, memory_peak_bytes), "bytes", "largest resident set"},
      {"late_s", DT_AT(R, late_s), "s",
       "by how much the rank exceeded the mean useful time and input wait of the workers, over the intervals in which it was the "
       "last"},
  };
  return fields;
}

Fields<BucketRecord> bucket_fields()
{
  using R = BucketRecord;
  static const Field<R> fields[]{
      {"bytes", DT_AT(R, bytes), "bytes", "gradients that are summed at once"},
      {"ready_s", DT_AT(R, ready_s), "s", "from the begin of the computation, input included, until the bucket is complete"},
      {"lead_s", DT_AT(R, lead_s), "s", "from then until the end of the backward pass"},
  };
  return fields;
}

Fields<PhaseStats> phase_fields()
{
  using R = PhaseStats;
  static const Field<R> fields[]{
      {"total_s", DT_AT(R, total_s), "s", "sum over the measured steps"},
      {"mean_s", DT_AT(R, mean_s), "s", "mean of a step"},
      {"p50_s", DT_AT(R, p50_s), "s", "median of a step"},
      {"p95_s", DT_AT(R, p95_s), "s", "95 % quantile"},
      {"p99_s", DT_AT(R, p99_s), "s", "99 % quantile"},
      {"max_s", DT_AT(R, max_s), "s", "largest of a step"},
  };
  return fields;
}

Fields<ProbeRecord> probe_fields()
{
  using R = ProbeRecord;
  static const Field<R> fields[]{
      {"unix_s", DT_AT(R, unix_s), "s", "when the probe was made"},
      {"allreduce_s", DT_AT(R, allreduce_s), "s", "median time of an allreduce of allreduce_bytes over all ranks"},
      {"allreduce_bytes", DT_AT(R, allreduce_bytes), "bytes", "length of that allreduce"},
  };
  return fields;
}

Fields<RankProbe> rank_probe_fields()
{
  using R = RankProbe;
  static const Field<R> fields[]{
      {"rank", DT_AT(R, rank), "", "number of the rank"},
      {"host", DT_AT(R, host), "", "host it runs on"},
      {"clock_mhz", DT_AT(R, clock_mhz), "MHz", "clock of its core, as the kernel reports it"},
      {"gemm_gflops", DT_AT(R, gemm_gflops), "GFLOP/s", "single-precision matrix product on the rank's threads"},
  };
  return fields;
}

Fields<NodeLoad> node_load_fields()
{
  using R = NodeLoad;
  static const Field<R> fields[]{
      {"host", DT_AT(R, host), "", "name of the machine; hosts that are namespaces of one machine together: \"host[0-3]\""},
      {"cores", DT_AT(R, cores), "", "cores of the machine"},
      {"own_cores", DT_AT(R, own_cores), "", "cores that the run's ranks may use"},
      {"seconds", DT_AT(R, seconds), "s", "from the begin of the first measured step to the end of the last"},
      {"load_begin", DT_AT(R, load_begin), "", "load average over a minute, at the begin"},
      {"load_end", DT_AT(R, load_end), "", "load average over a minute, at the end"},
      {"others_share", DT_AT(R, others_share), "0..1", "time of the run's cores that other processes used"},
      {"steal_share", DT_AT(R, steal_share), "0..1", "time of the run's cores that the hypervisor gave to other machines"},
      {"elsewhere_share", DT_AT(R, elsewhere_share), "0..1", "time in which the machine's other cores were busy"},
      {"throttled_share", DT_AT(R, throttled_share), "0..1",
       "time for which the CPU quota of a control group held the ranks back; of the rank that was held back most"},
      {"quota_cores", DT_AT(R, quota_cores), "cores", "the smallest CPU quota of the ranks' control groups"},
  };
  return fields;
}

Fields<NodeEnergy> node_energy_fields()
{
  using R = NodeEnergy;
  static const Field<R> fields[]{
      {"host", DT_AT(R, host), "", "name of the node"},
      {"machine", DT_AT(R, machine), "", "equal for hosts that are namespaces of one machine"},
      {"begin_unix_s", DT_AT(R, begin_unix_s), "s", "since when energy was measured"},
      {"seconds", DT_AT(R, seconds), "s", "for how long"},
      {"of_measured_steps", DT_AT(R, of_measured_steps), "", "whether that time begins with the measured steps"},
      {"host_joules", DT_AT(R, host_joules), "J", "of the processors' packages and, where it is counted, their memory"},
      {"host_domains", DT_AT(R, host_domains), "", "what was counted: \"package-0, dram\""},
      {"host_why", DT_AT(R, host_why), "", "why host_joules is missing"},
      {"gpu_why", DT_AT(R, gpu_why), "", "why the node has no GPUs here"},
      {"memory_peak_bytes", DT_AT(R, memory_peak_bytes), "bytes", "of the job's control group"},
      {"core_flops", DT_AT(R, core_flops), "FLOP/s",
       "multiply-adds in registers of one of the job's cores, in fp32, while all of them compute; kept in the home"},
      {"cores", DT_AT(R, cores), "", "cores of the job on the node"},
      {"core_words", DT_AT(R, core_words), "", "of which processor that is, where and when it was measured"},
  };
  return fields;
}

Fields<GpuEnergy> gpu_energy_fields()
{
  using R = GpuEnergy;
  static const Field<R> fields[]{
      {"index", DT_AT(R, index), "", "number of the GPU on its node"},
      {"id", DT_AT(R, id), "", "its UUID; of a part of a GPU, MIG- and the part's"},
      {"name", DT_AT(R, name), "", "its model"},
      {"joules", DT_AT(R, joules), "J", "energy"},
      {"is_counted", DT_AT(R, is_counted), "", "whether the GPU counts energy; else its power was integrated"},
      {"busy", DT_AT(R, busy), "0..1", "share of the time in which it ran a kernel"},
      {"sm_busy", &member_of<R, &R::activity, &GpuActivity::sm_busy>, "0..1", "share of its multiprocessors that had work"},
      {"occupancy", &member_of<R, &R::activity, &GpuActivity::occupancy>, "0..1", "share of the warps that fit"},
      {"tensor_busy", &member_of<R, &R::activity, &GpuActivity::tensor_busy>, "0..1",
       "share of the time in which its tensor cores worked"},
      {"memory_bandwidth", &member_of<R, &R::activity, &GpuActivity::memory_bandwidth>, "0..1",
       "used share of its memory's bandwidth"},
      {"clock_mhz", DT_AT(R, clock_mhz), "MHz", "mean clock of its multiprocessors"},
      {"least_clock_mhz", DT_AT(R, least_clock_mhz), "MHz", "least clock seen"},
      {"memory_peak_bytes", DT_AT(R, memory_peak_bytes), "bytes", "most memory in use"},
      {"held_back", DT_AT(R, held_back), "", "shares of the time in which its clock was held back, by reason"},
  };
  return fields;
}

Fields<RankState> rank_state_fields()
{
  using R = RankState;
  static const Field<R> fields[]{
      {"rank", DT_AT(R, rank), "", "number of the rank"},
      {"host", DT_AT(R, host), "", "its host"},
      {"step", DT_AT(R, step), "", "step in progress, or the last one done"},
      {"what", DT_AT(R, what), "", "what it does: \"waits for a gradient\""},
      {"peer", DT_AT(R, peer), "", "rank it waits for; -1: none, or not known"},
      {"waiting", DT_AT(R, waiting), "", "whether it only waits for other ranks"},
      {"since_unix_s", DT_AT(R, since_unix_s), "s", "since when it does so"},
      {"unix_s", DT_AT(R, unix_s), "s", "when it answered"},
  };
  return fields;
}

Fields<StallRecord> stall_fields()
{
  using R = StallRecord;
  static const Field<R> fields[]{
      {"unix_s", DT_AT(R, unix_s), "s", "when the standstill was noticed"},
      {"stalled_s", DT_AT(R, stalled_s), "s", "time without progress by then"},
      {"step", DT_AT(R, step), "", "step of rank 0"},
      {"resolved_unix_s", DT_AT(R, resolved_unix_s), "s", "when steps were done again; null: not yet"},
  };
  return fields;
}

Fields<MissingRank> missing_rank_fields()
{
  using R = MissingRank;
  static const Field<R> fields[]{
      {"rank", DT_AT(R, rank), "", "number of the rank"},
      {"host", DT_AT(R, host), "", "its host"},
      {"why", DT_AT(R, why), "", "why it has not arrived"},
  };
  return fields;
}

Fields<PredictionRecord> prediction_fields()
{
  using R = PredictionRecord;
  static const Field<R> fields[]{
      {"id", DT_AT(R, id), "", "hash of study, series and size"},
      {"study", DT_AT(R, study), "", "id of the study that it was made from", required, "study_key"},
      {"recipe", DT_AT(R, recipe), "", "name of that study"},
      {"series", DT_AT(R, series), "", "label without the size"},
      {"strategy", DT_AT(R, strategy), "", "sync.strategy"},
      {"model", DT_AT(R, model), "", "model.name"},
      {"nodes", DT_AT(R, nodes), "", "nodes of the predicted size"},
      {"ranks", DT_AT(R, ranks), "", "ranks of the predicted size"},
      {"global_batch", DT_AT(R, global_batch), "samples", "samples of all workers in one step"},
      {"predicted_unix_s", DT_AT(R, predicted_unix_s), "s", "when it was predicted"},
      {"largest_size", DT_AT(R, largest_size), "", "largest measured size (nodes or ranks) that it was made from"},
      {"backtests", DT_AT(R, backtests), "", "measured sizes that the same model was tested on"},
      {"level", DT_AT(R, level), "0..1", "share of intervals that should contain the measured value"},
      {"throughput", DT_AT(R, throughput), "samples/s", "predicted throughput"},
      {"throughput_low", DT_AT(R, throughput_low), "samples/s", "lower end of its interval"},
      {"throughput_high", DT_AT(R, throughput_high), "samples/s", "upper end of its interval"},
      {"efficiency", DT_AT(R, efficiency), "0..1", "predicted efficiency, relative to the smallest measured size"},
      {"efficiency_low", DT_AT(R, efficiency_low), "0..1", "lower end of its interval"},
      {"efficiency_high", DT_AT(R, efficiency_high), "0..1", "upper end of its interval"},
      {"time_s", DT_AT(R, time_s), "s", "predicted time of the training without evaluations"},
      {"node_hours", DT_AT(R, node_hours), "h", "that time on all nodes"},
      {"extrapolation", DT_AT(R, extrapolation), "", "whether something changes for certain since largest_size"},
      {"changes", DT_AT(R, changes), "", "what changes since largest_size, or may: names, with commas between"},
      {"unidentified", DT_AT(R, unidentified), "",
       "whether the measured sizes do not determine throughput and efficiency, so that only the intervals count"},
      {"measure", DT_AT(R, measure), "", "the size whose measurement would narrow the intervals; 0: none is needed"},
  };
  return fields;
}

Fields<StudyRecord> study_fields()
{
  using R = StudyRecord;
  static const Field<R> fields[]{
      {"id", DT_AT(R, id), "", "hash of the study's name and its runs' keys", required, "key"},
      {"name", DT_AT(R, name), "", "the recipe's name"},
      {"description", DT_AT(R, description), "", "the recipe's description"},
      {"kind", DT_AT(R, kind), "", "single, sweep, strong, weak, partition or scaling"},
      {"recipe_path", DT_AT(R, recipe_path), "", "path of the recipe"},
      {"recipe_text", DT_AT(R, recipe_text), "", "text of the recipe when it was submitted"},
      {"created_unix_s", DT_AT(R, created_unix_s), "s", "when the study was submitted first"},
      {"submitted_unix_s", DT_AT(R, submitted_unix_s), "s", "when the study was submitted last"},
      {"run_keys", DT_AT(R, run_keys), "", "keys of its runs, in order"},
      {"run_names", DT_AT(R, run_names), "", "names of its runs, in order"},
      {"control_keys", DT_AT(R, control_keys), "",
       "keys of its runs that are no points: A/A controls, runs that vary an assumed figure (study.sensitivity), and runs that "
       "try a "
       "setting (study.tune)"},
      {"keep_going", DT_AT(R, keep_going), "", "whether all runs start, even if the first ones fail in the same way"},
      {"labels", DT_AT(R, labels), "", "the recipe's labels of the points, by what the sweep varies"},
      {"race.metric", &member_of<R, &R::race, &StudyRace::metric>, "",
       "what candidates are compared by until the study is decided; empty: the number of repeats is fixed"},
      {"race.margin", &member_of<R, &R::race, &StudyRace::margin>, "share", "study.until.interval, or its default"},
      {"race.first", &member_of<R, &R::race, &StudyRace::first>, "runs", "repeats before the first look"},
      {"race.most", &member_of<R, &R::race, &StudyRace::most>, "runs", "most repeats of a point"},
      {"tune.metric", &member_of<R, &R::tune, &StudyTune::metric>, "",
       "what settings are compared by (study.tune.metric); empty: nothing is tuned"},
      {"tune.keys", &member_of<R, &R::tune, &StudyTune::keys>, "", "ranges of the tuned keys"},
      {"tune.runs", &member_of<R, &R::tune, &StudyTune::runs>, "runs", "most runs of a point's search"},
      {"tune.seeds", &member_of<R, &R::tune, &StudyTune::seeds>, "runs", "seeds of a setting that the search repeats"},
      {"tune.results", &member_of<R, &R::tune, &StudyTune::results>, "runs", "of each point with the tuned values"},
      {"refusals", DT_AT(R, refusals), "", "why runs were refused when it was submitted last, by key"},
  };
  return fields;
}

Fields<StudyRecord> stored_study_fields()
{
  constexpr std::size_t in_file_alone = 10; // the last ones: race, tune and refusals
  return study_fields().first(study_fields().size() - in_file_alone);
}

} // namespace dt
