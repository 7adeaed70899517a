// How much of sync-sgd's communication hides behind a modelled backward pass, beside how much can.
#include "engine/bench/bench.hpp"
#include "engine/bench/modelled_replica.hpp"
#include "engine/comm/mpi_world.hpp"
#include "engine/sync/buckets.hpp"
#include "engine/sync/isolated.hpp"
#include "engine/train/step_timer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::engine {
namespace {

// Seconds, means over the ranks and, but for the isolated ones, over the measured steps.
struct Overlap {
  double step_s = 0;
  double isolated_s = 0; // all buckets one after another with nothing beside them
  double exposed_s = 0;  // waited for
  double bound_s = 0;    // what can be hidden of it; 0: nothing is sent before the pass has ended
  double hidden_s() const { return isolated_s - exposed_s; }
  double share() const { return bound_s > 0 ? hidden_s() / bound_s : 0; }
};

RunSpec spec_of(const OverlapBench& options, const std::string& progress)
{
  RunSpec spec;
  spec.sync.allreduce = options.allreduce;
  spec.sync.progress = progress;
  spec.sync.bucket_bytes = options.bucket_bytes;
  spec.resources.oversubscribe = options.sleeps;
  return spec;
}

ModelledReplica::Options replica_options(const OverlapBench& options)
{
  ModelledReplica::Options replica;
  replica.scale = options.scale;
  replica.forward_s = options.forward_s;
  replica.backward_s = options.backward_s;
  replica.sleeps = options.sleeps;
  return replica;
}

double mean_over_ranks(double value, Communicator& comm)
{
  std::array sums{value};
  comm.sum_record(sums);
  return sums[0] / comm.size();
}

// Of each bucket alone, so scaled that together they take as long as all one behind another: no bucket waits for a start that the
// next one does not wait for.
std::vector<double> isolated_times(const std::vector<Stretch>& buckets, double all_s, Allreduce& allreduce, Communicator& comm)
{
  std::vector<double> times;
  for (const auto& bucket : buckets) {
    std::vector<float> own(bucket.size);
    times.push_back(mean_over_ranks(measure_isolated_s(comm, [&] { allreduce.sum(own); }), comm));
  }
  const double sum_s = std::accumulate(times.begin(), times.end(), 0.0);
  for (auto& time : times) time *= all_s / sum_s;
  return times;
}

// Seconds between the moment at which a bucket's last gradient is there and the end of the backward pass.
double lead_of(const Stretch& bucket, ModelledReplica& replica)
{
  const auto leads = replica.lead_s();
  double least = leads.back();
  for (std::size_t t = 0; t < leads.size(); ++t)
    if (replica.tensors()[t].offset >= bucket.offset && replica.tensors()[t].offset < bucket.end())
      least = std::min(least, leads[t]);
  return least;
}

Overlap measure(const OverlapBench& options, const std::string& progress, Communicator& comm)
{
  const auto spec = spec_of(options, progress);
  const auto parts = make_parts(spec, comm, {});
  ModelledReplica replica(replica_options(options));
  const auto buckets = plan_buckets(replica.tensors(), replica.weights().size(), bucket_bytes(spec.sync));
  std::vector<double> leads;
  for (const auto& bucket : buckets) leads.push_back(lead_of(bucket, replica));
  const auto strategy = make_strategy(parts);
  Overlap overlap;
  overlap.isolated_s = mean_over_ranks(strategy->isolated_communication_s(replica), comm);
  overlap.bound_s =
      hideable_s(isolated_times(buckets, overlap.isolated_s, *make_allreduce(parts.allreduce(), comm), comm), leads);
  strategy->start(replica);
  StepTimer timer;
  const auto step = [&] {
    timer.begin_step();
    replica.begin_step();
    strategy->step(replica, timer);
  };
  step(); // connections are made
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

nlohmann::ordered_json json_of(const std::string& progress, const Overlap& overlap)
{
  return {{"progress", progress},           {"step_s", overlap.step_s},       {"isolated_s", overlap.isolated_s},
          {"exposed_s", overlap.exposed_s}, {"hidden_s", overlap.hidden_s()}, {"bound_s", overlap.bound_s},
          {"hidden_share", overlap.share()}};
}

void print_row(const std::string& progress, const Overlap& overlap)
{
  fmt::print("{:<10} {:>10.1f} {:>12.1f} {:>11.1f} {:>10.1f} {:>10.1f} {:>9.1f}%\n", progress, 1e3 * overlap.step_s,
             1e3 * overlap.isolated_s, 1e3 * overlap.exposed_s, 1e3 * overlap.hidden_s(), 1e3 * overlap.bound_s,
             100 * overlap.share());
  std::fflush(stdout);
}

void print_head(const OverlapBench& options, int ranks)
{
  ModelledReplica replica(replica_options(options));
  fmt::print("{} ranks, {:.1f} MB of gradients in {} tensors, buckets of {:.1f} MB, {}, forward {:.0f} ms, backward {:.0f} ms\n",
             ranks, static_cast<double>(replica.gradients().size_bytes()) * 1e-6, replica.tensors().size(),
             static_cast<double>(options.bucket_bytes) * 1e-6, options.allreduce, 1e3 * options.forward_s,
             1e3 * options.backward_s);
  fmt::print("{:<10} {:>10} {:>12} {:>11} {:>10} {:>10} {:>10}\n", "progress", "step ms", "isolated ms", "exposed ms",
             "hidden ms", "bound ms", "share");
}

} // namespace

int bench_overlap(const OverlapBench& options)
{
  const MpiWorld mpi;
  Communicator comm(MPI_COMM_WORLD);
  auto rows = nlohmann::ordered_json::array();
  if (comm.is_root() && !options.json) print_head(options, comm.size());
  for (const auto& progress : options.progress) {
    const auto overlap = measure(options, progress, comm);
    if (comm.is_root() && options.json) rows.push_back(json_of(progress, overlap));
    if (comm.is_root() && !options.json) print_row(progress, overlap);
  }
  if (comm.is_root() && options.json) fmt::print("{}\n", rows.dump());
  return 0;
}

} // namespace dt::engine
