#include "jobs/program/reports/rank_report.hpp"

#include <algorithm>
#include <utility>

namespace dt::jobs {
namespace {

// What stays of the report of a rank that is started again.
RankReport after_restart(const RankReport& before, const WorkerLine& worker)
{
  RankReport report;
  report.start = before.start;
  report.worker = worker;
  report.memory_bytes = before.memory_bytes;
  report.damaged_lines = before.damaged_lines;
  return report;
}

} // namespace

void RankReport::take(const ReportLine& line)
{
  struct Taker {
    RankReport& report;
    void operator()(std::monostate) const { ++report.damaged_lines; }
    void operator()(const RankLine& start) const { report.start = start; }
    void operator()(const WorkerLine& worker) const
    {
      if (worker.restarts > report.restarts())
        report = after_restart(report, worker);
      else if (!report.worker) // a process that the rank has started may report, too
        report.worker = worker;
    }
    void operator()(const FactLine&) const {} // of the node, not of the training: ProgramRecorder reads it
    void operator()(const BeginLine& begin) const { report.begin = begin; }
    void operator()(const StepLine& step) const
    {
      report.steps.push_back(step);
      report.steps.back().between = std::exchange(report.pause, PauseLine{{0, 0, 0}}).between;
    }
    void operator()(const PauseLine& pause) const { report.pause = pause; }
    void operator()(const EvaluationLine& evaluation) const { report.evaluations.push_back(evaluation); }
    void operator()(const ExchangeLine& exchange) const { report.exchange = exchange.seen; }
    void operator()(const MemoryLine& memory) const { report.memory_bytes = memory.bytes; }
    void operator()(const ErrorLine& error) const
    {
      if (!report.error) report.error = error;
    }
    void operator()(const ResultLine& result) const { report.result = result; }
    void operator()(const SyncLine& sync) const { report.sync = sync; }
    void operator()(const TrafficLine& traffic) const { report.traffic = traffic; }
    void operator()(const StalenessLine& staleness) const { report.staleness.push_back(staleness); }
    void operator()(const BucketRecord& bucket) const { report.buckets.push_back(bucket); }
    void operator()(const GradientLine& gradient) const { report.gradients.push_back(gradient); }
    void operator()(const IsolatedLine& isolated) const { report.isolated_s = isolated.seconds; }
    void operator()(const NoiseLine& noise) const { report.noise_in_batches = noise.in_batches; }
    void operator()(const ChoiceLine& choice) const { report.choices.push_back(choice); }
    void operator()(const CaveatLine& caveat) const { report.caveats.push_back(caveat); }
    void operator()(const WeightsLine& weights) const { report.weights_hash = weights.hash; }
    void operator()(const FlopsLine& line) const { report.flops = line.flops; }
  };
  std::visit(Taker{*this}, line);
}

bool RankReport::is_observed() const
{
  return std::ranges::any_of(choices, [](const ChoiceLine& choice) { return choice.name == "observed"; });
}

const RankReport* earliest_error(std::span<const RankReport> reports, double until_unix_s)
{
  const RankReport* earliest = nullptr;
  for (const auto& report : reports) {
    if (!report.error || report.error->unix_s >= until_unix_s) continue;
    if (earliest == nullptr || report.error->unix_s < earliest->error->unix_s) earliest = &report;
  }
  return earliest;
}

} // namespace dt::jobs
