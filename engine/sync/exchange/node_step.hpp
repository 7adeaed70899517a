// Steps of ranks that share one copy of the weights in their node's memory: reduction and update in one pass, each rank its
// slice.
#pragma once

#include "engine/comm/allreduce/shared_vectors.hpp"
#include "engine/sync/exchange/gradient_noise.hpp"
#include "engine/sync/strategy.hpp"

#include <functional>

namespace dt::sync {

// Whether the ranks of this run share one copy of the weights and of the update rule's buffers: all are on one node, their
// weights stay equal, they sum gradients in the node's memory (allreduce `hierarchical`), and each float is updated without
// regard to the others. With sync.progress: thread, sums are made beside the computation by another thread, and each rank keeps
// its weights. Equal on all ranks.
bool shares_weights(const RunSpec& spec, const StrategyParts& parts);

// One copy of the weights for all ranks of a node, of which each rank updates its slice. Each rank has an object of this class.
class NodeSlices {
 public:
  virtual ~NodeSlices() = default;
  // The memory in which the rank's gradients are its own vector, and the weights the first common vector.
  virtual comm::SharedVectors& memory() = 0;
  // Begins the update of a step. Every rank of the node calls it.
  virtual void begin_update() {}
  // W <- opt(W, factor x sums) at positions [begin, begin + sums.size()), with the step's learning rate. Several threads may call
  // it for slices that do not overlap.
  virtual void update_slice(std::size_t begin, std::span<const float> sums, float factor) = 0;
};

// Receives sums of gradients at positions [begin, begin + sums.size()). Several threads call it at the same time.
using TakeSums = std::function<void(std::size_t begin, std::span<const float> sums)>;

// Passes once over this rank's slice of all ranks' own vectors, and gives their sums to `take` in pieces that stay in the
// first-level cache. Long slices are shared among the calling thread's team. Rethrows what `take` throws.
void sum_own_slice(const comm::SharedVectors& memory, const TakeSums& take);

// W <- opt(W, sum_r g^r / R) over the R ranks that share these slices. Call it after Replica::compute(). Returns the
// mean loss over the samples of all ranks; `rounds_loss`: the sums of losses are rounded to float32, as when they travel with the
// gradients.
double update_in_node(const BatchLoss& loss, bool rounds_loss, NodeSlices& slices, GradientNoise& noise, comm::Communicator& comm,
                      PhaseClock& clock);

// Seconds that the reduction takes alone, without the update. Collective.
double isolated_in_node_s(comm::SharedVectors& memory, comm::Communicator& comm);

// "one copy on the node …" for the run record.
std::string describe(const comm::SharedVectors& memory);

} // namespace dt::sync
