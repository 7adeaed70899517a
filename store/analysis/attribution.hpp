// Attribution: where the efficiency of a run went, as a product of factors. Pure functions over the figures of runs.
//
// With the useful time u (forward, backward, update) and the input wait i of worker r in interval s (the steps from one meeting
// of all workers to the next), n samples of W workers in the measured time T, a run's throughput per worker is exactly
//
//   n/(W T) = n/(W R) · m/M · (R/m)(M/C) · C/B · B/P · P/Q · Q/T
//   M = max_r Σ_s u,  C = Σ_s max_r u,  B = Σ_s max_r (u + i),  P = Σ_s max_r (u + i + p)
//   Q = Σ_s max_r (all time but communication)
//
// With the time between epochs p (BetweenEpochs), where it was measured, else P = B. Q is between P and T, and where it was not
// measured, Q = P.
//
// R and m are the useful time of a fast worker (core/record/measuring/fast_worker.hpp). m is the lower quartile of the workers'
// Σ_s u. R is Σ over windows of intervals of their number times the lower quartile of all u in them, and the pauses that all
// workers make together, but not more than m.
//
//   n/(W R)     computation, in samples per second of useful time: n/L · L/(W R), with L = n/b (time of one batch of b samples
//               on one rank while all others sleep) + Σ update; n/L is the effect of the batch, L/(W R) that of contention
//   m/M         load balance: what is slow on the same workers all the time
//   (R/m)(M/C)  jitter: what is slow on different workers at different times; with R = m it is POP's serialisation
//   C/B         input
//   B/P         time between epochs
//   P/Q         time outside of all phases
//   Q/T         exposed communication (POP: transfer): the rest. Strategies with servers:
//               Q/(Q + x) · (Q + x)/T, with x the time of as many exchanges of a worker that has the servers for itself; the
//               first is exposed communication, the second is queueing
//
// A worker alone cannot tell which of its pauses others would have made with it. Of a baseline of one worker R counts those that
// exceed what a worker of the other point pauses by itself: at the same rate of such pauses computation is the same in both.
//
// The efficiency is the ratio of two runs' throughputs per worker, so it is the product of the ratios of their factors. In a
// partition study it is the ratio of their throughputs, so the computation counts per core: its ratio is multiplied by that of
// the workers. POP names such factors for MPI programs in general [Rosas2014].
//
// R and m cancel in the product, so any choice of them keeps it exact. The runs of a program whose ranks did not measure the
// same steps have neither; then both are U/W with U = Σ_r Σ_s u, the mean worker, and 1/W of what one slow worker costs counts as
// contention. So it does relative to an ideal machine, where the efficiency is that of the parallel run alone, U/(W T). Random
// differences between steps cost the same at every size in R, as long as their scatter is the same: where the scatter of a step
// grows by a share of δ, computation seems faster by 0.67 δ, and jitter costs as much more. If half of the workers are slow, R is
// the median of the others, and computation seems slower by 0.67 times their scatter.
//
// A program of the user may not report every phase. What then cannot be told apart becomes one factor, `together`: without
// `input`, C/T (input and communication); without `communication` on several ranks, everything but input, because time in which a
// rank communicates inside `backward`, as PyTorch's DDP does, looks like computation; without forward, backward or optimizer, or
// without both, n/(W T).
#pragma once

#include "core/record/run_record.hpp"
#include "store/analysis/statistics/scaling.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

enum class Factor { batch, contention, load_balance, jitter, input, between, outside, communication, queueing, together };
inline constexpr std::array<std::string_view, 10> factor_names{"batch",    "contention",     "load_balance",   "jitter",
                                                               "input",    "between_epochs", "outside_phases", "communication",
                                                               "queueing", "together"};
inline constexpr std::size_t factor_count = factor_names.size();

// One number for each factor; NaN: the factor is unknown or does not apply.
using FactorArray = std::array<double, factor_count>;

// The worker against whose useful time computation is measured: R and m above.
enum class Reference { fast_worker, mean_worker };

// What log_factors() has to know of the point that a run is compared with.
struct Compared {
  Reference reference = Reference::mean_worker;
  double pauses_alone = 0; // pauses that its workers make by themselves, relative to its R without pauses
};

using FactorIntervals = std::array<Interval, factor_count>;
inline constexpr Interval no_interval{not_measured, not_measured};
constexpr FactorIntervals no_factor_intervals()
{
  FactorIntervals intervals{};
  intervals.fill(no_interval);
  return intervals;
}

// Phases that a program does not report on every worker, as far as factors need them.
struct MissingPhases {
  bool input = false;
  bool communication = false; // of a run with several ranks
  bool work = false;          // one of forward, backward and optimizer

  bool any() const { return input || communication || work; }
  // Whether no factor can be told apart.
  bool all_causes() const { return work || (input && communication); }
  bool operator==(const MissingPhases&) const = default;
};
MissingPhases operator|(const MissingPhases& a, const MissingPhases& b);

// A succeeded run with what its factors are computed from. Figures that were not measured are NaN.
struct AttributedRun {
  Run measured;
  std::int64_t samples = 0; // of all workers, in the measured steps
  double measured_s = not_measured;
  WorkSums work = no_work_sums;
  double update_s = not_measured;       // Σ update over workers and measured steps
  double lone_compute_s = not_measured; // RunResult::lone_compute_s
  BetweenEpochs between{};
  double batch_per_rank = 0;
  std::int64_t measured_steps = 0;
  double isolated_s = not_measured; // isolated communication of one step
  double exposed_s = not_measured;  // exposed communication of one step, mean over the workers
  double bytes = 0, messages = 0;   // sent by the rank that sent most, in one step
  std::int64_t samples_to_accuracy = 0;
  std::string latest_host{};             // host of the rank that the others waited for longest; empty: unknown
  bool is_own_program = false;           // the user's
  MissingPhases missing{};               // none for dtengine
  double throttled_share = not_measured; // of its time, for which a CPU quota held its ranks back (NodeLoad::throttled_share)
};

// The natural logarithms of a run's factors. Their sum without NaN is ln(samples / (workers · measured_s)), in samples/s. If
// lone_compute_s is NaN, `batch` is NaN and `contention` holds the whole computation. `queueing` is NaN without servers or
// without isolated_s; then `communication` holds both. `together` is NaN unless phases are missing. Nothing if the run has no
// measured step, or no work sums although it is dtengine's. With the fast worker the run must have
// its sums.
std::optional<FactorArray> log_factors(const AttributedRun& run, const Compared& other);

// Times and amounts of one step's communication, means over runs.
struct CommunicationFigures {
  double isolated_s = not_measured; // with nothing else running
  double exposed_s = not_measured;  // a worker waits for it and does nothing else
  double hidden_s = not_measured;   // isolated_s - exposed_s, at least 0
  double bytes = not_measured, messages = not_measured;
  double bandwidth = not_measured; // bytes / isolated_s, in bytes/s
  double link = not_measured;      // 1/β of the link that was fitted to the label's sizes, in bytes/s; filled in by the query
};

// A point of a study and where its efficiency went.
struct Attribution {
  std::string label;
  std::int64_t nodes = 0, ranks = 0, workers = 0, size = 0;
  std::int64_t runs = 0, left_out = 0; // succeeded runs with and without work sums
  // The size that the point is compared with: the label's smallest. 0: an ideal machine, on which all factors of this run but its
  // computation are 1; then the efficiency is that of the parallel run alone, Σ u / (W T).
  std::int64_t baseline_size = 0;
  bool is_baseline = false; // it is compared with itself
  bool is_part = false;     // of a partition study: `size` is the ranks of a node, which share its cores
  // Per worker; of the runs with work sums. Relative to an ideal machine NaN if communication or work is missing: then nobody
  // knows how much of the time was waiting.
  double efficiency = not_measured;
  Interval interval{not_measured, not_measured}; // 95 %, as in scaling.hpp; NaN without a smaller size or with too few runs
  double efficiency_per_process = not_measured;  // the same with servers counted; NaN without servers
  FactorArray factors{};                         // relative to the baseline
  // The part of 1 - efficiency that each factor takes: factors' logarithms times (1 - E)/ln E, so that their sum is the loss.
  // Negative if a factor gained.
  FactorArray lost{};
  // 95 %, from the scatter of the runs (Welch, on logarithms, times the same (1 - E)/ln E); NaN with fewer than least_runs runs
  // on either side, or if the runs do not scatter. Those of batch and contention are wider by lone_deviation.
  FactorIntervals lost_intervals = no_factor_intervals();
  // How far the baseline's computation is from what one rank alone predicts, |ln(L/U)|, where it should be 0 because nobody
  // contends. NaN if the baseline has several ranks or the same batch, or without `has_split`.
  double lone_deviation = not_measured;
  Reference reference = Reference::mean_worker; // fast_worker: all runs of the point and of its baseline recorded one
  bool has_split = false;            // the effect of the batch is known separately; otherwise `contention` is the computation
  bool is_in_mixed_study = false;    // other points of the study have no such split
  MissingPhases missing{};           // of its runs and of those that it is compared with
  std::string latest_host{};         // the host that the others waited for in most runs
  std::int64_t latest_host_runs = 0; // in so many of `runs`
  double statistical_efficiency = not_measured; // samples to the target (centre_of), at the baseline divided by here
  double time_efficiency = not_measured;        // efficiency · statistical_efficiency: the efficiency in time to accuracy
  CommunicationFigures communication{};
  BetweenEpochs between{}; // shares of the measured time, means over its runs; NaN: not measured
  // The largest share of the time for which a CPU quota held back a run of this size or of its baseline. A rank that is held back
  // is late in whatever it does then, so from least_throttled_share on no factor is known, and `factors` and `lost` are NaN.
  double throttled_share = not_measured;
  bool is_throttled() const;
  // Whether the factor `contention` has this name. Without a split it is the whole computation, and in a mixed study all points
  // call it so, because they share a column.
  bool says_contention() const { return has_split && !is_in_mixed_study; }
};

// Attributions of all points of a study that have runs with work sums, in the order of scaling_of(). `sizes`: as there.
std::vector<Attribution> attributions_of(std::span<const AttributedRun> runs, StudySizes sizes);

} // namespace dt::store
