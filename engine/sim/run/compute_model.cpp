#include "engine/sim/run/compute_model.hpp"

#include "core/error.hpp"
#include "core/spec/input_shape.hpp"
#include "core/spec/optimizer_table.hpp"
#include "engine/model/models/registry.hpp"

#include <map>

#include <fmt/format.h>

namespace dt::sim {
namespace {

model::ModelOptions options_of(const RunSpec& spec)
{
  model::ModelOptions options;
  options.model = spec.model.name;
  options.layers = spec.model.layers;
  const auto natural = model::natural_input(options.model);
  options.image = natural.image;
  options.classes = natural.classes;
  if (const auto shape = input_shape_of(spec.data)) {
    options.image = {shape->channels, shape->height, shape->width};
    options.classes = shape->classes;
  }
  return options;
}

// Weights twice and gradients once, and each buffer of the rule twice. LARS reads weights and gradients once more for their
// norms.
std::size_t update_vectors(const OptimizerSpec& optimizer)
{
  return optimizer.name == "lars" ? 7 : 3 + 2 * static_cast<std::size_t>(optimizer_row(optimizer.name).buffers);
}

// The seed of the scatter of step times: other repeats of a study have other ones.
std::uint64_t seed_of(const RunSpec& spec)
{
  constexpr std::uint64_t seeds_between_repeats = 1'000'003;
  return static_cast<std::uint64_t>(spec.train.seed) + seeds_between_repeats * static_cast<std::uint64_t>(spec.repeat);
}

void use_rate(const RunSpec& spec, const model::Model& network, ComputeModel& model)
{
  const auto& train = spec.train;
  if (train.modelled_step_spread > 0 || train.modelled_node_spread > 0)
    model.factors.emplace(train.modelled_step_spread, train.modelled_node_spread, seed_of(spec));
  const double pass_s = static_cast<double>(model.batch) / spec.train.modelled_rate;
  model.forward_s = modelled_forward_share * pass_s;
  model.backward_s = pass_s - model.forward_s;
  for (const auto& layer : network.layers)
    model.layers.push_back({layer.parameters(), 0, (network.takes_images(layer) ? 1 : 2) * layer.flops()});
}

// Sets the times and their scatter from a profile, scaled to the run's batch and threads. The layers are set by the callers.
void use_times(const RunSpec& spec, const ComputeProfile& profile, ComputeModel& model)
{
  // Threads beyond those of the profile are taken to help in proportion.
  const double threads = static_cast<double>(spec.resources.threads_per_rank) / static_cast<double>(profile.threads);
  const double samples = static_cast<double>(model.batch) / static_cast<double>(profile.batch);
  model.input_s = samples * profile.input_s;
  model.forward_s = samples / threads * profile.forward_s();
  model.backward_s = samples / threads * profile.backward_s();
  model.factors.emplace(profile, seed_of(spec));
}

void use_profile(const RunSpec& spec, const model::Model& network, ComputeModel& model)
{
  const auto profile = read_compute_profile(spec.train.compute_profile);
  std::map<std::string, double> backward_s;
  for (const auto& layer : profile.layers) backward_s[layer.name] = layer.backward_s;
  for (const auto& layer : network.layers) {
    const auto found = backward_s.find(layer.name);
    if (found == backward_s.end())
      throw Error(ErrorKind::recipe,
                  fmt::format("train.compute_profile: {} has no layer {}; was it measured with another network than "
                              "{}?",
                              spec.train.compute_profile, layer.name, spec.model.name));
    model.layers.push_back({layer.parameters(), 0, found->second});
  }
  use_times(spec, profile, model);
}

// Uses the profile of a program of the user, which has the numbers of parameters and the time of the program's own optimizer,
// too.
void use_program(const RunSpec& spec, ComputeModel& model)
{
  const auto profile = read_compute_profile(spec.train.compute_profile);
  if (!profile.is_of_program())
    throw Error(ErrorKind::recipe, fmt::format("train.compute_profile: {} is one of the network {}; set model.name",
                                               spec.train.compute_profile, profile.model));
  for (const auto& layer : profile.layers) model.layers.push_back({*layer.parameters, 0, layer.backward_s});
  model.update_s = profile.update_s;
  use_times(spec, profile, model);
}

} // namespace

ComputeModel make_compute_model(const RunSpec& spec)
{
  ComputeModel model{.layers = {},
                     .update_s = {},
                     .batch = spec.effective_batch_per_rank(),
                     .update_vectors = update_vectors(spec.optimizer),
                     .factors = {}};
  if (spec.model.name.empty()) {
    use_program(spec, model);
    return model;
  }
  const auto network = model::build_model(options_of(spec));
  model.flops_per_sample = network.totals().step_flops;
  if (spec.train.compute_profile.empty())
    use_rate(spec, network, model);
  else
    use_profile(spec, network, model);
  return model;
}

} // namespace dt::sim
