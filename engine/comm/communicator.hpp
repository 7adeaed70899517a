// Communicator: a group of ranks that can exchange data; counts what this rank sends. Outside comm, only train and bench call MPI
// functions.
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

namespace dt::comm {

// Bytes and messages that this rank sent for the training. Messages for records and evaluations are not counted.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

enum class Receivers { all, root };

class Communicator;

// A message in progress. Its buffer must stay valid until the message is complete. If tracing is on, the message becomes a span
// from its start to the call that found it complete.
class Transfer {
 public:
  Transfer() = default;
  // Blocks until the message is complete.
  void wait();
  // Returns whether the message is complete, and lets MPI make progress. Never blocks.
  bool test();
  MPI_Request* request() { return &request_; }
  // Tells that another call of MPI than wait() and test() has found the message complete.
  void found_complete(const MPI_Status& status)
  {
    request_ = MPI_REQUEST_NULL;
    tell(status);
  }

 private:
  friend class Communicator;
  // The message's entry in the trace, which is recorded when the message completes.
  struct Note {
    Communicator* comm = nullptr; // null: no trace
    const char* name = nullptr;
    double begin_s = 0;
    std::size_t bytes = 0;
    int peer = -1, tag = -1; // peer in comm's numbering; MPI_ANY_SOURCE until the message has arrived
  };
  void tell(const MPI_Status& status);

  MPI_Request request_ = MPI_REQUEST_NULL;
  Note note_;
};

// State of one rank that all its communicators share.
struct RankLedger {
  Traffic traffic;
  Activity activity;
  std::unique_ptr<Trace> trace; // null: tracing is off
};

// Only one thread may call a communicator at a time. Every call is collective unless its comment says otherwise. Throws an
// internal error with MPI's own text when MPI fails.
class Communicator {
 public:
  // Borrows `comm` and sets its error handler to return codes, so that errors are thrown with rank and cause.
  explicit Communicator(MPI_Comm comm);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Makes a communicator of the ranks that pass the same colour, ordered by key, then by rank. Returns null on a rank that passes
  // a negative colour. The new communicator adds to the same traffic(). Collective.
  std::unique_ptr<Communicator> split(int color, int key);
  MPI_Comm handle() const { return comm_; }
  // Equal on all its ranks, and different from that of other communicators: the original one's is empty.
  const std::string& name() const { return name_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  // Translates a rank of this communicator to its rank in the original communicator, the one from which the splits started.
  int world_rank(int rank) const { return world_.empty() ? rank : world_[static_cast<std::size_t>(rank)]; }
  // The same of all its ranks; empty: the numbers are the same.
  std::span<const int> world_ranks() const { return world_; }

  // Copies root's values to every rank. Counts one message at root, with all bytes that the others receive.
  void broadcast(std::span<float> values, int root = 0);
  Traffic& traffic() { return ledger_->traffic; }
  Activity& activity() { return ledger_->activity; }
  // Null when tracing is off.
  Trace* trace() { return ledger_->trace.get(); }
  // Starts tracing, in all communicators of this rank that come from the same original one.
  void begin_trace() { ledger_->trace = std::make_unique<Trace>(); }

  // ---- messages between two ranks: counted at the sender; not collective ----

  // At most 2^31 - 1 numbers. The buffer must stay valid until the transfer is complete.
  Transfer send_begin(std::span<const float> values, int to, int tag);
  Transfer send_begin(std::span<const std::byte> bytes, int to, int tag);
  Transfer receive_begin(std::span<float> values, int from, int tag);
  Transfer receive_begin(std::span<std::byte> bytes, int from, int tag);
  // A tag for one exchange; equal on all ranks if they call it in the same order. Tags repeat after 31,000 calls, so fewer
  // exchanges than that may be in progress at once.
  int fresh_tag();
  // A tag that is never reused, for a user that keeps it as long as this communicator lives. Equal on all ranks if they call it
  // in the same order.
  int lasting_tag();
  // For tests: acts as if `count` fresh tags had been requested.
  void skip_fresh_tags(std::int64_t count);

  // ---- for records, evaluation and start-up: not counted; some of them in machine/ranks/records.cpp ----

  // values <- sum over ranks, in place.
  void sum_record(std::span<double> values);
  // Begins the same sum out of place: `sums` holds the result once the transfer is complete. Until then both must stay valid and
  // `values` unchanged. Equal lengths, no overlap. All ranks must begin these sums in the same order.
  Transfer sum_record_begin(std::span<const double> values, std::span<double> sums);
  // values <- maximum over ranks, in place.
  void max_record(std::span<double> values);
  // sum_record for float32; the result has the same bits on every rank.
  void sum_record(std::span<float> values);
  // Copies rank `from`'s values to rank 0, into rank 0's `values` of the same length. The other ranks do nothing.
  void bring_to_root(std::span<float> values, int from);
  // Copies rank 0's values to rank `to`. The other ranks do nothing.
  void send_from_root(std::span<float> values, int to);
  // Copies root's values to every rank, like broadcast().
  void broadcast_record(std::span<float> values, int root = 0);
  // Returns root's text on every rank.
  std::string broadcast_text(const std::string& text, int root = 0);
  // On rank 0: every rank's numbers, concatenated in rank order; every rank must pass equally many. Empty on the other ranks.
  std::vector<double> gather_numbers(std::span<const double> values);
  // Every rank's numbers in rank order, on every rank; every rank must pass equally many.
  std::vector<double> all_numbers(std::span<const double> values);
  // Returns every rank's text in rank order: on every rank, or on rank 0 and nothing on the others.
  std::vector<std::string> gather_texts(const std::string& text, Receivers receivers = Receivers::all);
  // Whether all ranks passed the same text. The answer is equal on every rank.
  bool all_equal(const std::string& text);
  void barrier();
  // Like barrier(), but a rank that waits sleeps and leaves its core to others. It returns up to a millisecond late.
  void sleeping_barrier();

 private:
  void reduce_record(std::span<double> values, MPI_Op op);
  void transfer(std::span<float> values, int from, int to);
  void count_sent(std::size_t bytes);
  Transfer noted(const char* name, std::size_t bytes, int peer, int tag);
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  bool owned_ = false;                    // created by split() and freed with this object
  int next_fresh_ = 0, next_lasting_ = 0; // counters of the two kinds of tags
  int splits_ = 0;
  std::string name_;
  std::vector<int> world_; // world_rank() of each rank; empty: the numbers are the same
  std::shared_ptr<RankLedger> ledger_ = std::make_shared<RankLedger>();
};

// Waits for all of them.
void wait_all(std::span<Transfer> transfers);

// Throws an internal error with MPI's own text when code is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace dt::comm
