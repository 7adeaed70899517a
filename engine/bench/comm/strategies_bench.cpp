// Measures a step's cost under each strategy, with a modelled computation and real messages.
#include "core/error.hpp"
#include "core/record/field.hpp"
#include "engine/bench/bench.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "engine/train/step/step_timer.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {
namespace {

// Cost of one strategy per step: means over the workers and the measured steps.
struct Cost {
  double step_s = 0, communication_s = 0, update_s = 0;
  double isolated_s = not_measured; // seconds of one step's communication alone
  double bytes = 0, messages = 0;   // sent by all ranks per step
  double exposed_share() const { return communication_s / step_s; }
};

RunSpec spec_of(const StrategiesBench& options, const std::string& strategy)
{
  RunSpec spec;
  spec.sync.strategy = strategy.substr(0, strategy.find(':'));
  if (const auto colon = strategy.find(':'); colon != std::string::npos)
    spec.sync.overlap = std::stoll(strategy.substr(colon + 1));
  spec.sync.allreduce = options.allreduce;
  spec.sync.progress = options.progress;
  spec.sync.period = options.period;
  spec.sync.outer.fragments = options.fragments;
  spec.sync.outer.delay = options.delay;
  spec.sync.wire = options.wire;
  spec.sync.servers = options.servers;
  spec.sync.server_threads = options.server_threads;
  spec.sync.pack = options.pack;
  spec.sync.alpha = 0.9 / options.workers;
  spec.resources.nodes_per_supernode = options.nodes_per_supernode;
  spec.resources.oversubscribe = options.sleeps; // a sleeping computation leaves its core to a communication thread
  return spec;
}

sync::ModelledReplica::Options replica_options(const StrategiesBench& options)
{
  constexpr double forward_part = 1.0 / 3; // a backward pass computes two products for each product of the forward pass
  sync::ModelledReplica::Options replica;
  replica.scale = options.scale;
  replica.forward_s = options.compute_s * forward_part;
  replica.backward_s = options.compute_s * (1 - forward_part);
  replica.sleeps = options.sleeps;
  return replica;
}

double mean_over_workers(double value, const sync::StrategyParts& parts)
{
  std::array sums{parts.roles.is_server ? 0.0 : value};
  parts.comm.sum_record(sums);
  return sums[0] / static_cast<double>(parts.roles.workers.size());
}

double sum_over_ranks(double value, comm::Communicator& comm)
{
  std::array sums{value};
  comm.sum_record(sums);
  return sums[0];
}

// Rounds the steps up to whole periods, because only a whole period has a typical cost.
std::int64_t whole_periods(const StrategiesBench& options)
{
  return (options.steps + options.period - 1) / options.period * options.period;
}

Cost measure(const StrategiesBench& options, const RunSpec& spec, comm::Communicator& comm)
{
  const auto parts = sync::make_parts(spec, comm, {});
  const auto strategy = sync::make_strategy(parts);
  sync::ModelledReplica replica(replica_options(options));
  train::StepTimer timer;
  strategy->start(replica);
  Cost cost;
  cost.isolated_s = strategy->isolated_communication_s(replica);
  for (std::int64_t step = 0; step < options.period; ++step) { // warm-up: connections are opened
    replica.begin_step();
    strategy->step(replica, timer);
  }

  const auto steps = whole_periods(options);
  const comm::Traffic before = comm.traffic();
  double communication_s = 0, update_s = 0;
  comm.barrier();
  const double begin_s = comm::monotonic_s();
  for (std::int64_t step = 0; step < steps; ++step) {
    timer.begin_step();
    replica.begin_step();
    strategy->step(replica, timer);
    communication_s += timer.phases()[static_cast<std::size_t>(Phase::communication)];
    update_s += timer.phases()[static_cast<std::size_t>(Phase::optimizer)];
  }
  const double all_s = comm::monotonic_s() - begin_s;

  const auto per_step = 1 / static_cast<double>(steps);
  cost.step_s = mean_over_workers(all_s, parts) * per_step;
  cost.communication_s = mean_over_workers(communication_s, parts) * per_step;
  cost.update_s = mean_over_workers(update_s, parts) * per_step;
  cost.bytes = sum_over_ranks(static_cast<double>(comm.traffic().bytes - before.bytes), comm) * per_step;
  cost.messages = sum_over_ranks(static_cast<double>(comm.traffic().messages - before.messages), comm) * per_step;
  return cost;
}

nlohmann::ordered_json json_of(const std::string& strategy, const Cost& cost)
{
  const auto number = [](double value) { return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value); };
  return {{"strategy", strategy},
          {"step_s", cost.step_s},
          {"communication_s", cost.communication_s},
          {"exposed_share", cost.exposed_share()},
          {"isolated_s", number(cost.isolated_s)},
          {"update_s", cost.update_s},
          {"bytes_per_step", cost.bytes},
          {"messages_per_step", cost.messages}};
}

void print_head(const StrategiesBench& options)
{
  sync::ModelledReplica replica(replica_options(options));
  fmt::print("{}{} workers, {:.1f} MB of parameters, {:.0f} ms of computation a step, period {}, {}\n",
             options.simulated ? "simulated: " : "", options.workers,
             static_cast<double>(replica.tensors().back().end * sizeof(float)) * 1e-6, 1e3 * options.compute_s, options.period,
             options.pack ? "packed" : "a message a tensor");
  fmt::print("{:<22} {:>10} {:>10} {:>9} {:>12} {:>10} {:>12}\n", "strategy", "step ms", "exposed ms", "share", "isolated ms",
             "update ms", "MB a step");
}

void print_row(const std::string& strategy, const Cost& cost)
{
  fmt::print("{:<22} {:>10.1f} {:>10.1f} {:>8.1f}% {:>12.1f} {:>10.1f} {:>12.2f}\n", strategy, 1e3 * cost.step_s,
             1e3 * cost.communication_s, 100 * cost.exposed_share(), 1e3 * cost.isolated_s, 1e3 * cost.update_s,
             1e-6 * cost.bytes);
  std::fflush(stdout);
}

// A communicator of the first ranks: the workers, and the servers if the strategy has any. Null on the other ranks, which wait
// for the next strategy. Collective.
std::unique_ptr<comm::Communicator> ranks_of(const StrategiesBench& options, const RunSpec& spec, comm::Communicator& world)
{
  const auto wanted = options.workers + spec.servers();
  if (wanted > world.size())
    throw Error(ErrorKind::usage, fmt::format("{} with {} workers needs {} ranks, but there are {}.", spec.sync.strategy,
                                              options.workers, wanted, world.size()));
  return world.split(world.rank() < wanted ? 0 : -1, world.rank());
}

} // namespace

int bench_strategies(const StrategiesBench& options, comm::Communicator& world)
{
  auto rows = nlohmann::ordered_json::array();
  if (world.is_root() && !options.json) print_head(options);
  for (const auto& strategy : options.strategies) {
    const auto spec = spec_of(options, strategy);
    if (const auto comm = ranks_of(options, spec, world)) {
      const auto cost = measure(options, spec, *comm);
      if (world.is_root() && options.json) {
        rows.push_back(json_of(strategy, cost));
        if (options.simulated) rows.back()["simulated"] = true;
      }
      if (world.is_root() && !options.json) print_row(strategy, cost);
    }
    world.barrier();
  }
  if (world.is_root() && options.json) fmt::print("{}\n", rows.dump());
  return 0;
}

} // namespace dt::bench
