// Snapshot: saves the tensors of a training on all ranks to a checkpoint, and loads them.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/evaluation/consensus.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "engine/train/weights/start.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::train {

// Covers the weights and the buffers of optimizer and strategy: once if all ranks hold the same values, otherwise each rank's
// own.
class Snapshot {
 public:
  // References must outlive the Snapshot.
  struct Parts {
    nn::Network& network;
    optim::Optimizer& optimizer;
    sync::Strategy& strategy;
    comm::Communicator& comm;
    Consensus* consensus = nullptr; // if the ranks' models differ, their common model is saved too; null: only the ranks' own
  };
  explicit Snapshot(const Parts& parts) : parts_(parts) {}

  // The tensors that save() writes, in its order. They are known without communication.
  std::vector<TensorName> tensors() const;
  // Rank 0 passes a writer of tensors(); the other ranks pass null and send their tensors. Collective if the ranks differ. Errors
  // of the file are thrown on rank 0 after every rank has done its part.
  void save(CheckpointWriter* writer) const;
  // Rank 0 passes the reader; the other ranks pass null. Every rank gets back its own state. Collective.
  void load(const CheckpointReader* reader) const;
  // Sets the weights of every rank, and the optimizer's buffers if given, to rank 0's `start`; the other ranks pass null.
  // Collective.
  void begin(const Start* start) const;

 private:
  struct Buffer {
    std::string name;
    std::span<float> values; // packed like the weights, or one number per tensor
    bool per_rank;
    bool per_tensor = false;
  };
  std::vector<Buffer> buffers() const;
  bool has_model_of_its_own() const;
  // The buffer's values in the order of the file.
  std::vector<float> plain_of(const Buffer& buffer) const;
  void restore(const Buffer& buffer, std::span<const float> plain) const;
  std::vector<std::int64_t> dims_of(const nn::Parameter& parameter, const Buffer& buffer) const;
  void write(CheckpointWriter& writer, const std::string& group, const Buffer& buffer, std::span<const float> plain) const;
  void read(const CheckpointReader& reader, const std::string& group, const Buffer& buffer, std::span<float> plain) const;
  void load_shared(const Buffer& buffer, const CheckpointReader* reader) const;
  void load_own(const Buffer& buffer, const CheckpointReader* reader) const;

  Parts parts_;
};

} // namespace dt::train
