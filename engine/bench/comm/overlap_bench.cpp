// Measures how much of sync-sgd's communication overlaps with a modelled backward pass, and how much could.
#include "engine/bench/bench.hpp"
#include "engine/comm/mpi_world.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/isolated.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "engine/train/step/step_timer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {
namespace {

// Seconds per step: means over the ranks and, except for isolated_s and bound_s, over the measured steps.
struct Overlap {
  double step_s = 0;
  double isolated_s = 0; // all buckets one after another with nothing else running
  double alone_s = 0;    // of a step without communication: computation and update
  double exposed_s = 0;  // time in which the ranks waited for communication
  double bound_s = 0;    // part of isolated_s that can overlap; 0: nothing is sent before the pass has ended
  double hidden_s() const { return isolated_s - exposed_s; }
  double share() const { return bound_s > 0 ? hidden_s() / bound_s : 0; }
};

RunSpec spec_of(const OverlapBench& options, ProgressMode progress)
{
  RunSpec spec;
  spec.sync.allreduce = options.allreduce;
  spec.sync.progress = progress;
  spec.sync.bucket_bytes = options.bucket_bytes;
  spec.resources.oversubscribe = options.sleeps || options.works;
  if (options.between_layers) spec.model.batch_norm = BatchNormSamples::synchronized;
  return spec;
}

sync::ModelledReplica::Options replica_options(const OverlapBench& options, double units_per_s)
{
  sync::ModelledReplica::Options replica;
  replica.scale = options.scale;
  replica.forward_s = options.forward_s;
  replica.backward_s = options.backward_s;
  replica.sleeps = options.sleeps;
  replica.units_per_s = units_per_s;
  return replica;
}

double mean_over_ranks(double value, comm::Communicator& comm)
{
  std::array sums{value};
  comm.sum_record(sums);
  return sums[0] / comm.size();
}

// Each bucket's time alone, scaled so that the sum equals the time of all buckets in sequence. The scaling removes the barrier
// that each separate measurement includes.
std::vector<double> isolated_times(const std::vector<Range>& buckets, double all_s, comm::Allreduce& allreduce,
                                   comm::Communicator& comm)
{
  std::vector<double> times;
  for (const auto& bucket : buckets) {
    std::vector<float> own(bucket.size());
    times.push_back(mean_over_ranks(sync::measure_isolated_s(comm, [&] { allreduce.sum(own); }), comm));
  }
  const double sum_s = std::accumulate(times.begin(), times.end(), 0.0);
  for (auto& time : times) time *= all_s / sum_s;
  return times;
}

// Seconds between the bucket's last gradient and the end of the backward pass.
double lead_of(Range bucket, sync::ModelledReplica& replica)
{
  const auto leads = replica.lead_s();
  double least = leads.back();
  for (std::size_t t = 0; t < leads.size(); ++t)
    if (bucket.contains(replica.tensors()[t].begin)) least = std::min(least, leads[t]);
  return least;
}

// Seconds of a step without communication, the same on every rank at the same time.
double measure_alone_s(const OverlapBench& options, sync::ModelledReplica& replica, comm::Communicator& comm)
{
  comm.barrier();
  const double begin_s = comm::monotonic_s();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    replica.compute(nullptr);
    replica.update({0, replica.weights().size()}, 1);
  }
  return mean_over_ranks(comm::monotonic_s() - begin_s, comm) / static_cast<double>(options.steps);
}

Overlap measure(const OverlapBench& options, ProgressMode progress, double units_per_s, comm::Communicator& comm)
{
  const auto spec = spec_of(options, progress);
  const auto parts = sync::make_parts(spec, comm, {});
  sync::ModelledReplica replica(replica_options(options, units_per_s));
  const auto buckets = sync::plan_buckets(replica.tensors(), replica.weights().size(), sync::bucket_bytes(spec.sync));
  std::vector<double> leads;
  for (const auto& bucket : buckets) leads.push_back(lead_of(bucket, replica));
  const auto strategy = sync::make_strategy(parts);
  Overlap overlap;
  overlap.isolated_s = mean_over_ranks(strategy->isolated_communication_s(replica), comm);
  overlap.bound_s =
      sync::hideable_s(isolated_times(buckets, overlap.isolated_s, *comm::make_allreduce(parts.allreduce(), comm), comm), leads);
  strategy->start(replica);
  train::StepTimer timer;
  const auto step = [&] {
    timer.begin_step();
    replica.begin_step();
    strategy->step(replica, timer);
  };
  step(); // warm-up: connections are opened
  overlap.alone_s = measure_alone_s(options, replica, comm);
  comm.barrier();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    step();
    overlap.step_s += timer.end_step();
    overlap.exposed_s += timer.phases()[static_cast<std::size_t>(Phase::communication)];
  }
  overlap.step_s = mean_over_ranks(overlap.step_s, comm) / static_cast<double>(options.steps);
  overlap.exposed_s = mean_over_ranks(overlap.exposed_s, comm) / static_cast<double>(options.steps);
  return overlap;
}

nlohmann::ordered_json json_of(ProgressMode progress, const Overlap& overlap)
{
  return {{"progress", name_of(progress)},    {"step_s", overlap.step_s},       {"alone_s", overlap.alone_s},
          {"isolated_s", overlap.isolated_s}, {"exposed_s", overlap.exposed_s}, {"hidden_s", overlap.hidden_s()},
          {"bound_s", overlap.bound_s},       {"hidden_share", overlap.share()}};
}

void print_row(ProgressMode progress, const Overlap& overlap)
{
  fmt::print("{:<10} {:>10.1f} {:>10.1f} {:>12.1f} {:>11.1f} {:>10.1f} {:>10.1f} {:>9.1f}%\n", name_of(progress),
             1e3 * overlap.step_s, 1e3 * overlap.alone_s, 1e3 * overlap.isolated_s, 1e3 * overlap.exposed_s,
             1e3 * overlap.hidden_s(), 1e3 * overlap.bound_s, 100 * overlap.share());
  std::fflush(stdout);
}

void print_head(const OverlapBench& options, int ranks)
{
  sync::ModelledReplica replica(replica_options(options, 0));
  fmt::print("{} ranks, {:.1f} MB of gradients in {} tensors, buckets of {:.1f} MB, {}, forward {:.0f} ms, backward {:.0f} ms\n",
             ranks, static_cast<double>(replica.gradients().size_bytes()) * 1e-6, replica.tensors().size(),
             static_cast<double>(options.bucket_bytes) * 1e-6, options.allreduce, 1e3 * options.forward_s,
             1e3 * options.backward_s);
  fmt::print("{:<10} {:>10} {:>10} {:>12} {:>11} {:>10} {:>10} {:>10}\n", "progress", "step ms", "alone ms", "isolated ms",
             "exposed ms", "hidden ms", "bound ms", "share");
}

} // namespace

int bench_overlap(const OverlapBench& options)
{
  const comm::MpiWorld mpi;
  comm::Communicator comm(MPI_COMM_WORLD);
  auto rows = nlohmann::ordered_json::array();
  if (comm.is_root() && !options.json) print_head(options, comm.size());
  const double units_per_s = options.works ? sync::work_units_per_s() : 0;
  for (const auto progress : options.progress) {
    const auto overlap = measure(options, progress, units_per_s, comm);
    if (comm.is_root() && options.json) rows.push_back(json_of(progress, overlap));
    if (comm.is_root() && !options.json) print_row(progress, overlap);
  }
  if (comm.is_root() && options.json) fmt::print("{}\n", rows.dump());
  return 0;
}

} // namespace dt::bench
