// Evaluator: loss and accuracy of the model on a data set; the samples are divided among the ranks.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/graph/network.hpp"

#include <vector>

namespace dt::train {

class Evaluator {
 public:
  // Evaluates with the current weights of the trained network, in a separate network for evaluation. References must outlive the
  // Evaluator.
  Evaluator(const nn::Network& trained, const data::Source& source, comm::Communicator& comm);
  // Evaluates the whole set; the result is the same on every rank. Each sample counts once, for any batch size. Collective.
  nn::Evaluation evaluate();
  // Samples that this rank could not decode and replaced, over all evaluations.
  std::int64_t replaced_samples() const { return replaced_samples_; }

 private:
  // Loads samples [begin, end), at most one batch. The rest of the batch gets label -1 and is not counted.
  void load(std::int64_t begin, std::int64_t end);

  nn::Network network_;
  const data::Source& source_;
  comm::Communicator& comm_;
  SampleRange share_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::int64_t replaced_samples_ = 0;
};

} // namespace dt::train
