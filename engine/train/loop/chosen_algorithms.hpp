// ChosenAlgorithms: how a training comes to the algorithms of its convolutions (train.algorithms), the same on all ranks.
#pragma once

#include "core/spec/algorithms.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/nn/graph/network.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace dt::train {

// What an earlier attempt of the run has recorded.
struct RecordedAlgorithms {
  Algorithms algorithms;
  int attempt = 0;
};

// Where a choice may come from. Only rank 0 reads them.
struct AlgorithmSources {
  std::optional<RecordedAlgorithms> recorded{};
  std::filesystem::path cache{}; // folder with the choices of earlier runs on this machine; empty: none
};

struct ChosenAlgorithms {
  Algorithms algorithms; // for NetworkOptions; empty: the rules decide
  std::string how;       // "timed", "as attempt 1 recorded"; empty: the network has nothing to choose
  double seconds = 0;    // that the choice took on rank 0; 0 on other ranks
};

// Rank 0 decides for all ranks, for networks with these options: as train.algorithms says, but what an earlier attempt has
// recorded comes before new timings. The other ranks sleep meanwhile. Throws a recipe error for a list that cannot be read.
// Collective.
ChosenAlgorithms choose_algorithms(const TrainSpec& train, const nn::NetworkOptions& options, const AlgorithmSources& sources,
                                   comm::Communicator& comm);

// Throws a run error if the training must repeat a list (train.algorithms: fixed), but the network, built on this processor,
// computes with other algorithms.
void require_fixed_algorithms(const TrainSpec& train, const Algorithms& built);

// "timed: 2 convolutions: image-lanes"; empty for a network without convolutions.
std::string in_words(const ChosenAlgorithms& chosen, const Algorithms& built);

} // namespace dt::train
