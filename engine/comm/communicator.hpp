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

// One thread calls it (MPI_THREAD_FUNNELED is enough). Every call is collective unless it says otherwise, and throws an
// internal error with MPI's own words when MPI fails.
class Communicator {
public:
  // Borrows the communicator and makes its errors return, so that they can be thrown with rank and cause.
  explicit Communicator(MPI_Comm comm);
  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  // Root's values reach every rank. Counted: one message at the root with all that the others receive.
  void broadcast(std::span<float> values, int root = 0);
  Traffic& traffic() { return traffic_; }

  // ---- for records, evaluation and start-up: not counted ----

  // values <- sum over ranks, in place.
  void sum_record(std::span<double> values);
  // Rank `from`'s values reach rank 0, into its own `values` of the same length. The other ranks take no part.
  void bring_to_root(std::span<float> values, int from);
  // Rank 0's values reach rank `to`. The other ranks take no part.
  void send_from_root(std::span<float> values, int to);
  // Root's values, on every rank, as broadcast().
  void broadcast_record(std::span<float> values, int root = 0);
  // Root's text, on every rank.
  std::string broadcast_text(const std::string& text, int root = 0);
  // Every rank's numbers (equally many on each), rank after rank; empty on ranks other than 0.
  std::vector<double> gather_numbers(std::span<const double> values);
  // Every rank's text, on every rank.
  std::vector<std::string> gather_texts(const std::string& text);
  // Whether all ranks gave the same text; the same answer on every rank.
  bool all_equal(const std::string& text);
  void barrier();

private:
  void transfer(std::span<float> values, int from, int to);
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  Traffic traffic_;
};

// Throws an internal error with MPI's own text when code is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace dt::engine
