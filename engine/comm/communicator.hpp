// Communicator: a group of ranks, with what it sent counted. The only room that calls MPI besides sync and train.
#pragma once

#include "engine/comm/activity.hpp"
#include "engine/comm/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
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

class Communicator;

// A message on its way. Its buffer must stay until it is complete. Where a timeline is kept, it is a span there from its
// beginning to the moment when somebody saw that it was complete.
class Transfer {
public:
  Transfer() = default;
  // Blocks until the message is complete.
  void wait();
  // Whether it is complete; moves messages on. Never blocks.
  bool test();
  MPI_Request* request() { return &request_; }

private:
  friend class Communicator;
  // To be told to the timeline at its end.
  struct Note {
    Communicator* comm = nullptr; // null: nobody wants to know
    const char* name = nullptr;
    double begin_s = 0;
    std::size_t bytes = 0;
    int peer = -1, tag = -1; // peer in comm's numbers; MPI_ANY_SOURCE until it has come
  };
  void tell(const MPI_Status& status);

  MPI_Request request_ = MPI_REQUEST_NULL;
  Note note_;
};

// What belongs to a rank in all the communicators it is in.
struct RankLedger {
  Traffic traffic;
  Activity activity;
  std::unique_ptr<Trace> trace; // null: nobody asked for one
};

// One thread calls it (MPI_THREAD_FUNNELED is enough). Every call is collective unless it says otherwise, and throws an
// internal error with MPI's own words when MPI fails.
class Communicator {
public:
  // Borrows the communicator and makes its errors return, so that they can be thrown with rank and cause.
  explicit Communicator(MPI_Comm comm);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // A communicator of the ranks that give the same colour, ordered by key, then by rank; null for a rank that gives a colour
  // below 0. What is sent through it counts here too. Collective.
  std::unique_ptr<Communicator> split(int color, int key);
  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  // The number that a rank of this communicator has in the one that this was split from in the end.
  int world_rank(int rank) const { return world_.empty() ? rank : world_[static_cast<std::size_t>(rank)]; }

  // Root's values reach every rank. Counted: one message at the root with all that the others receive.
  void broadcast(std::span<float> values, int root = 0);
  Traffic& traffic() { return ledger_->traffic; }
  Activity& activity() { return ledger_->activity; }
  // Null when nothing is traced.
  Trace* trace() { return ledger_->trace.get(); }
  // From here on a timeline is kept, in all communicators that this rank's are split from or into.
  void begin_trace() { ledger_->trace = std::make_unique<Trace>(); }

  // ---- messages between two ranks: counted where they are sent, not collective ----

  // Numbers of at most 2^31 - 1; the buffer must stay until the transfer is complete.
  Transfer send_begin(std::span<const float> values, int to, int tag);
  Transfer send_begin(std::span<const std::byte> bytes, int to, int tag);
  Transfer receive_begin(std::span<float> values, int from, int tag);
  Transfer receive_begin(std::span<std::byte> bytes, int from, int tag);
  // A tag for one exchange, equal on all ranks when they ask in the same order. It comes again after 31,000 others, so fewer exchanges
  // than that may be under way at once.
  int fresh_tag();
  // A tag that never comes again, for whoever uses one as long as this communicator lives. Likewise equal on all ranks.
  int lasting_tag();
  // For tests: as if so many fresh tags had been asked for.
  void skip_fresh_tags(std::int64_t count);

  // ---- for records, evaluation and start-up: not counted ----

  // values <- sum over ranks, in place.
  void sum_record(std::span<double> values);
  // The same, begun only: values hold the sums once the transfer is complete. All ranks begin theirs in the same order.
  Transfer sum_record_begin(std::span<double> values);
  // Likewise; equal bits on every rank.
  void sum_record(std::span<float> values);
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
  void count_sent(std::size_t bytes);
  Transfer noted(const char* name, std::size_t bytes, int peer, int tag);
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  bool owned_ = false; // made by split(), freed with this object
  int next_fresh_ = 0, next_lasting_ = 0; // of the tags of either kind
  std::vector<int> world_; // world_rank() of each rank; empty: the same numbers
  std::shared_ptr<RankLedger> ledger_ = std::make_shared<RankLedger>();
};

// Waits for all of them.
void wait_all(std::span<Transfer> transfers);

// Throws an internal error with MPI's own text when code is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace dt::engine
