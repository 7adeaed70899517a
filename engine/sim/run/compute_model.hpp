// ComputeModel: how long one rank of a simulated run computes, and which tensors its layers have.
#pragma once

#include "core/spec/compute_profile.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/sync/modelled_replica.hpp"

#include <optional>
#include <vector>

namespace dt::sim {

struct ComputeModel {
  // In the order of the forward pass; the parameters of a layer form one tensor. A layer's work is its part of the backward pass.
  std::vector<sync::ModelledLayer> layers;
  double input_s = 0;                   // for which a step waits for its batch
  double forward_s = 0, backward_s = 0; // of a rank's batch
  std::optional<double> update_s;       // of all weights, if it is known; otherwise the time to read and write update_vectors
  double flops_per_sample = 0;          // forward and backward
  std::int64_t batch = 0;               // samples of a rank
  std::size_t update_vectors = 3;       // vectors as long as the weights that the update rule reads or writes
  std::optional<StepFactors> factors;   // how step times vary: of a profile, or of train.modelled_*_spread
};

// The model of the run's compute profile, scaled to the run's batch, or of its rate (train.modelled_rate). At a rate, the forward
// pass takes a third, and the backward pass is divided among the layers by their FLOPs: those of the forward pass twice, and once
// in the first layer, which computes no gradient of its input. Throws a recipe error if the network does not exist, does not fit
// the images, or is not that of the profile.
ComputeModel make_compute_model(const RunSpec& spec);

} // namespace dt::sim
