#include "engine/train/record/measurement.hpp"

#include "core/record/measuring/caveats.hpp"
#include "core/record/measuring/slow_start.hpp"
#include "engine/comm/machine/place.hpp"
#include "engine/train/record/rank_report.hpp"

#include <cmath>

namespace dt::train {
namespace {

// The sums of the attempts before this one and of this one.
WorkSums sum_of(const Measurement::Totals& earlier, const WorkSums& own)
{
  if (earlier.samples == 0) return own;
  const auto& before = earlier.work;
  WorkSums sums;
  for (const auto part :
       {&WorkSums::useful_s, &WorkSums::useful_max_s, &WorkSums::useful_step_max_s, &WorkSums::busy_step_max_s,
        &WorkSums::useful_fast_s, &WorkSums::useful_step_fast_s, &WorkSums::common_pauses_s, &WorkSums::pauses_s})
    sums.*part = before.*part + own.*part;
  return sums;
}

} // namespace

void Measurement::begin(double training_s)
{
  begin_measuring(training_s);
  measured_until_s_ = training_s;
}

void Measurement::add_step(const std::array<double, phase_count>& phase_s, double step_s, double training_s, bool meets)
{
  ++steps_;
  if (!is_measured()) return begin_measuring(training_s);
  statistics_.add_step(phase_s, step_s);
  work_.add_step(phase_s, meets);
  measured_until_s_ = training_s;
}

// Called before the first step and after each warm-up step; the values of the last call count.
void Measurement::begin_measuring(double training_s)
{
  warmup_traffic_ = comm_.traffic();
  if (steps_ == options_.warmup_steps) load_begin_ = look_at_load();
  measured_from_s_ = training_s;
}

void Measurement::add_evaluation(double seconds)
{
  if (is_measured()) statistics_.add_evaluation(seconds);
}

void Measurement::end()
{
  if (measured_steps() == 0) return;
  load_ = gather_load(load_between(*load_begin_, look_at_load(), mask_, options_.cores_per_rank), comm_);
}

// This rank's part of the result.
RankRecord Measurement::record() const
{
  RankRecord mine;
  mine.rank = comm_.rank();
  mine.host = comm::own_place().host;
  mine.role = roles_.is_server ? "server" : "worker";
  statistics_.fill(mine);
  mine.bytes_sent = comm_.traffic().bytes - warmup_traffic_.bytes;
  mine.messages_sent = comm_.traffic().messages - warmup_traffic_.messages;
  mine.memory_peak_bytes = memory_peak_bytes();
  mine.late_s = work_.late_s();
  return mine;
}

Measurement::Totals Measurement::totals()
{
  work_.collect();
  const double own_s = std::max(0.0, measured_until_s_ - measured_from_s_);
  const auto all_s = comm_.gather_numbers(std::array{own_s});
  const double share = mean_of_workers(statistics_.share(Phase::communication), roles_, comm_);
  const double slowest_s = all_s.empty() ? own_s : *std::max_element(all_s.begin(), all_s.end());
  const auto& earlier = options_.earlier;
  return {.samples = earlier.samples + measured_steps() * options_.global_batch,
          .measured_s = earlier.measured_s + slowest_s,
          .communication_s = earlier.communication_s + (std::isnan(share) ? 0 : share * slowest_s),
          .work = sum_of(earlier, work_.sums())};
}

void Measurement::fill(RunResult& result, const std::vector<std::int32_t>& staleness)
{
  const auto all = totals();
  result.warmup_steps = warmup_steps();
  result.ranks = gather_records(record(), comm_);
  result.staleness = gather_staleness(staleness, comm_);
  result.measured_samples = all.samples;
  result.measured_s = all.measured_s;
  if (all.samples > 0) result.work = all.work;
  result.throughput = all.measured_s > 0 ? static_cast<double>(all.samples) / all.measured_s : not_measured;
  result.communication_share = all.measured_s > 0 ? all.communication_s / all.measured_s : not_measured;
  const auto step_s = statistics_.steps_s();
  if (const auto start = slow_start_of(step_s))
    add_caveat(result.caveats, "warm-up",
               words_of(*start, step_s.size(), warmup_steps() + static_cast<std::int64_t>(start->steps)));
}

} // namespace dt::train
