// Evaluator: the model's loss and accuracy on a set, the samples shared out over the ranks.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/network.hpp"

#include <vector>

namespace dt::engine {

class Evaluator {
public:
  // Evaluates with the weights that the trained network has at the time, in a network for evaluation. References are kept and
  // must outlive it.
  Evaluator(const Network& trained, const Source& source, Communicator& comm);
  // Over the whole set, the same on every rank; each sample counts once, whatever the batch. Collective.
  Evaluation evaluate();

private:
  // Samples [begin, end), at most a batch; the rest of the batch is labelled -1 and not counted.
  void load(std::int64_t begin, std::int64_t end);

  Network network_;
  const Source& source_;
  Communicator& comm_;
  Range share_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
};

} // namespace dt::engine
