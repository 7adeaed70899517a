// Checks of simulated runs: what such a run must give, and which allreduces and sizes dtsim cannot simulate.
#include "core/spec/names.hpp"
#include "core/spec/simulation_cost.hpp"
#include "core/spec/strategy_table.hpp"
#include "recipes/checks/checks.hpp"
#include "recipes/reading/diagnostics.hpp"

namespace dt::recipes {
namespace {

using Problems = std::vector<Problem>;

void check_figures(const RunSpec& spec, Problems& problems)
{
  const auto& platform = spec.platform;
  const auto require = [&](std::string_view path, double value, const char* example) {
    if (value <= 0)
      problems.push_back({{path, "resources.platform"},
                          ticked(std::string(path)) + " is missing: the simulation needs it, for example " + example});
  };
  require("platform.bandwidth", platform.bandwidth, "`10 Gbit/s`");
  require("platform.memory_bandwidth", platform.memory_bandwidth, "`10 GB/s`");
}

void check_size(const RunSpec& spec, Problems& problems)
{
  const auto& platform = spec.platform;
  const auto& resources = spec.resources;
  const auto of_platform = " of the platform " + ticked(resources.platform);
  if (platform.nodes > 0 && resources.nodes > platform.nodes)
    problems.push_back({{"study.nodes", "resources.nodes", "resources.platform"},
                        "the run asks for " + std::to_string(resources.nodes) + " nodes" + of_platform + ", which has " +
                            std::to_string(platform.nodes) + " (`platform.nodes`)"});
  if (platform.ranks_per_node > 0 && resources.ranks_per_node > platform.ranks_per_node)
    problems.push_back({{"study.ranks", "resources.ranks_per_node", "resources.platform"},
                        "the run asks for " + std::to_string(resources.ranks_per_node) + " ranks on a node" + of_platform +
                            ", which holds " + std::to_string(platform.ranks_per_node) + " (`platform.ranks_per_node`)"});
  if (spec.ranks() > most_simulated_ranks)
    problems.push_back({{"study.nodes", "study.ranks", "resources.nodes", "resources.platform"},
                        "the run asks for " + std::to_string(spec.ranks()) + " ranks; a simulation can have at most " +
                            std::to_string(most_simulated_ranks)});
}

void check_sync(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  if (reads(sync.strategy, "sync.allreduce") && !is_coded(sync.wire) && !can_be_simulated(sync.allreduce))
    problems.push_back(
        {{"sync.allreduce", "resources.platform"},
         "the allreduce " + ticked(sync.allreduce) + " cannot be simulated; set `sync.allreduce` to " + simulated_allreduces()});
  if (sync.topology == TopologySource::probe)
    problems.push_back({{"sync.topology", "resources.platform"}, "`sync.topology` probe cannot be simulated; set hosts"});
}

void check_training(const RunSpec& spec, Problems& problems)
{
  const auto& train = spec.train;
  const bool has_rate = train.modelled_rate > 0, has_profile = !train.compute_profile.empty();
  if (!has_rate && !has_profile)
    problems.push_back({{"train.modelled_rate", "resources.platform"},
                        "a simulated run needs the speed of a rank: give `train.modelled_rate` in samples/s, or "
                        "`train.compute_profile`"});
  if (has_rate && has_profile)
    problems.push_back({{"train.compute_profile", "train.modelled_rate"},
                        "`train.compute_profile` and `train.modelled_rate` exclude each other; keep one"});
  if (has_profile && (train.modelled_step_spread > 0 || train.modelled_node_spread > 0))
    problems.push_back({{"train.modelled_step_spread", "train.modelled_node_spread"},
                        "`train.modelled_step_spread` and `train.modelled_node_spread` have no effect, because "
                        "`train.compute_profile` has the measured scatter of step times; remove them"});
  if (train.target_accuracy > 0)
    problems.push_back({{"train.target_accuracy", "resources.platform"},
                        "a simulated run computes no weights, so it has no accuracy; remove `train.target_accuracy`"});
  if (!train.start_from.empty())
    problems.push_back(
        {{"train.start_from", "resources.platform"}, "a simulated run computes no weights; remove `train.start_from`"});
  if (train.algorithms == AlgorithmChoice::fixed)
    problems.push_back(
        {{"train.algorithms", "resources.platform"}, "a simulated run computes no convolutions; remove `train.algorithms`"});
  if (train.trace)
    problems.push_back({{"train.trace", "resources.platform"}, "a simulated run records no timeline; remove `train.trace`"});
  if (train.noise_scale > 0)
    problems.push_back(
        {{"train.noise_scale", "resources.platform"}, "a simulated run computes no gradients; remove `train.noise_scale`"});
  if (train.steps == 0 && spec.data.name != "synthetic" && spec.data.train_samples == 0)
    problems.push_back({{"train.epochs", "resources.platform"},
                        "a simulated run does not read the data set " + ticked(spec.data.name) +
                            "; give `train.steps`, or `data.train_samples`"});
}

} // namespace

void find_platform_problems(const RunSpec& spec, Problems& problems)
{
  if (!spec.is_simulated()) {
    if (!spec.train.compute_profile.empty())
      problems.push_back(
          {{"train.compute_profile"},
           "`train.compute_profile` has an effect only in a simulated run; set `resources.platform`, or remove it"});
    if (spec.train.modelled_step_spread > 0 || spec.train.modelled_node_spread > 0)
      problems.push_back(
          {{"train.modelled_step_spread", "train.modelled_node_spread"},
           "`train.modelled_step_spread` and `train.modelled_node_spread` have an effect only in a simulated run; set "
           "`resources.platform`, or remove them"});
    if (spec.study.sensitivity > 0)
      problems.push_back({{"study.sensitivity"},
                          "`study.sensitivity` varies the assumed figures of simulated runs, and this run is executed; set "
                          "`resources.platform`, or remove it"});
    if (!(spec.platform == PlatformSpec()))
      problems.push_back({{"platform.bandwidth", "platform.latency", "platform.nodes"},
                          "the block `platform` has an effect only in a simulated run; set `resources.platform` to custom or to "
                          "a shipped platform, or remove the block"});
    return;
  }
  check_figures(spec, problems);
  check_size(spec, problems);
  check_sync(spec, problems);
  check_training(spec, problems);
  if (spec.study.layout == StudyLayout::ladder)
    problems.push_back({{"study.layout", "resources.platform"},
                        "simulated runs need one core each, so they share no allocation; leave `study.layout` out"});
}

} // namespace dt::recipes
