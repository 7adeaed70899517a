// Start: the weights that a new run begins with when they do not come from its seed.
#pragma once

#include "engine/nn/graph/network.hpp"
#include "engine/train/weights/checkpoint.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::train {

struct Start {
  std::vector<float> weights;                // all parameters in the network's order, in plain order
  std::optional<CheckpointReader> optimizer; // the optimizer's buffers, for all ranks alike; empty: they start at zero
  std::string origin;                        // in words: "step 800 of run 3fa92c1b07: weights and the optimizer's buffers"
};

// Reads the weights from a .safetensors or .npz file, or from another run's checkpoint: the weights that all its ranks shared,
// otherwise its strategy's centre, otherwise the mean of its workers' weights. The optimizer's buffers are taken if all ranks
// shared them and the rule is `optimizer`. Throws a usage error if the file is none of these, or a weight is NaN or infinite; a
// run error with the first name and both shapes if its tensors do not match the model.
Start read_start(const std::filesystem::path& path, const std::vector<nn::Parameter>& parameters, const std::string& optimizer);

} // namespace dt::train
