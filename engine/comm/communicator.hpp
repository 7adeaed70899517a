// Communicator: a group of ranks, with what it sent counted. The only room that calls MPI besides sync and train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace dt::engine {

// What this rank handed to the network for the model's sake (not for records or evaluation).
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

class Communicator {
public:
  explicit Communicator(MPI_Comm comm); // borrowed
  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  // Collective. Root's values reach every rank.
  void broadcast(std::span<float> values, int root = 0);
  Traffic& traffic() { return traffic_; }

private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  Traffic traffic_;
};

// Throws an internal error with MPI's own text when code is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace dt::engine
