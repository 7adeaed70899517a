// Start: what a new run begins with in place of weights drawn from its seed.
#pragma once

#include "engine/nn/network.hpp"
#include "engine/train/checkpoint.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::engine {

struct Start {
  std::vector<float> weights; // all parameters in the network's order, plain
  std::optional<CheckpointReader> optimizer; // where its buffers are, for all ranks alike; nothing: they begin at zero
  std::string origin; // in words: "step 800 of run 3fa92c1b07: weights and the optimizer's buffers"
};

// From another run's checkpoint: the weights that all its ranks held, else its strategy's centre, else the mean of its workers'
// weights; the optimizer's buffers where all ranks held the same and its rule is this one. Or the weights in a .npz.
// A usage error when the file is neither, or a weight is NaN or infinite; a run error when its tensors are not the model's, with the
// first one's name and both shapes.
Start read_start(const std::filesystem::path& path, const std::vector<Parameter>& parameters, const std::string& optimizer);

} // namespace dt::engine
