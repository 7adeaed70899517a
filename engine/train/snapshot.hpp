// Snapshot: the tensors of a training on all ranks, to and from a checkpoint.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/nn/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/checkpoint.hpp"
#include "engine/train/consensus.hpp"
#include "engine/train/start.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// Weights, the optimizer's buffers and the strategy's: once where all ranks hold the same, else every rank's own.
class Snapshot {
public:
  // References are kept and must outlive it.
  struct Parts {
    Network& network;
    Optimizer& optimizer;
    Strategy& strategy;
    Communicator& comm;
    Consensus* consensus = nullptr; // writes the ranks' one model too where they differ; null: their own only
  };
  explicit Snapshot(const Parts& parts) : parts_(parts) {}

  // Rank 0 writes; the others give null and what they hold. Collective where ranks differ. What goes wrong with the file is
  // thrown on rank 0, after every rank has done its part.
  void save(CheckpointWriter* writer) const;
  // Rank 0 reads; the others give null. Every rank is left with what it had. Collective.
  void load(const CheckpointReader* reader) const;
  // Every rank begins with the weights, and with the optimizer's buffers where they are given: rank 0's, the others give null.
  // Collective.
  void begin(const Start* start) const;

private:
  struct Buffer {
    std::string name;
    std::span<float> values; // packed as the weights, or a number a tensor
    bool per_rank;
    bool per_tensor = false;
  };
  std::vector<Buffer> buffers() const;
  bool has_model_of_its_own() const;
  // As it stands in the file.
  std::vector<float> plain_of(const Buffer& buffer) const;
  void restore(const Buffer& buffer, std::span<const float> plain) const;
  std::vector<std::int64_t> dims_of(const Parameter& parameter, const Buffer& buffer) const;
  void write(CheckpointWriter& writer, const std::string& group, const Buffer& buffer, std::span<const float> plain) const;
  void read(const CheckpointReader& reader, const std::string& group, const Buffer& buffer, std::span<float> plain) const;
  void load_shared(const Buffer& buffer, const CheckpointReader* reader) const;
  void load_own(const Buffer& buffer, const CheckpointReader* reader) const;

  Parts parts_;
};

} // namespace dt::engine
