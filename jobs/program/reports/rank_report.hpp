// RankReport: what one rank of the user's own program has reported, and what the reports of all ranks say together.
#pragma once

#include "core/record/field.hpp"
#include "jobs/program/reports/report_lines.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// A throughput in samples of all ranks a second, and how many lines with steps were printed until then, its own included.
struct PrintedRate {
  std::size_t lines = 0;
  double value = 0;
};

struct RankReport {
  RankLine start;
  std::optional<WorkerLine> worker; // the last one
  std::optional<BeginLine> begin;
  std::vector<StepLine> steps;
  std::vector<EvaluationLine> evaluations;
  std::optional<Exchange> exchange;
  double memory_bytes = not_measured;
  std::vector<PrintedRate> rates;        // throughputs that the program prints (program.metrics)
  double started_clock_s = not_measured; // with program.metrics: when dtjob saw that the program had started
  std::optional<ErrorLine> error;
  std::optional<ResultLine> result;
  // Lines of the library dtctl_sync; empty if the program does not train with it.
  std::optional<SyncLine> sync;
  std::optional<TrafficLine> traffic;
  std::vector<StalenessLine> staleness;
  std::vector<BucketRecord> buckets;
  std::vector<GradientLine> gradients; // in the order in which they become ready
  double isolated_s = not_measured;
  NoiseScale noise_in_batches;
  std::vector<ChoiceLine> choices;
  std::vector<CaveatLine> caveats;
  PauseLine pause{{0, 0, 0}}; // of the next step
  std::string weights_hash;
  RunFlops flops; // counted by the observer
  std::int64_t damaged_lines = 0;
  bool is_printed = false;       // found in the output of rank 0, which stands for all ranks (program.metrics)
  bool is_numbered = false;      // the numbers of the steps are those of the program, which goes on counting in a later attempt
  bool is_count_known = true;    // false: the steps are at least as many as their numbers say
  bool is_time_per_step = false; // a line may stand for many steps, but its time is that of one
  bool skips_unknown_samples = false; // lines without samples are not measured

  // A part of its output that nobody has searched for figures (program.metrics): its bytes, and what was found before it.
  struct Gap {
    std::int64_t bytes = 0;
    std::size_t steps = 0, evaluations = 0, rates = 0;
  };
  std::optional<Gap> gap;

  // Takes one line of the rank's report. Forgets the training that was given up when the rank was started again.
  void take(const ReportLine& line);
  // How often the program's launcher has started the rank again.
  int restarts() const { return worker ? worker->restarts : 0; }
  // Whether the observer has reported its result, when the interpreter ended (share/dtctl/program/dtctl_observe).
  bool is_observed() const;
};

// The earliest error before `until_unix_s` (the clocks of all ranks' hosts are taken to agree); a null pointer if there is none.
const RankReport* earliest_error(std::span<const RankReport> reports,
                                 double until_unix_s = std::numeric_limits<double>::infinity());

} // namespace dt::jobs
