// Parameter servers: which server holds which part of the weights, and the messages between workers and servers.
//
// In an exchange, the worker sends a request (a head, then the worker's values of the server's part), and the server sends an
// answer (the server's values of that part). With sync.pack the values are one message, otherwise one message per tensor. With S
// servers and n floats in M messages (M = S when packed), one exchange sends
//   from the worker     S heads + M messages    24 S + 4 n bytes
//   from the servers    M messages                     4 n bytes
// Messages are two-sided, so the server decides when to answer. The strategies (first come first served, in turn, without a lock)
// differ only in how the server handles requests.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/sync/replica.hpp"
#include "engine/sync/strategy.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dt::sync {

// The head of a request.
struct Request {
  std::int64_t worker = 0; // index in Roles::workers
  std::int64_t step = 0;   // the worker's step, from 1
  double rate = 0;         // at that step: the learning rate, or the elastic rate
};

// One update of the centre. Servers log updates in the order in which they make them.
struct ServedUpdate {
  std::int32_t worker;
  std::int32_t staleness; // updates by other workers since this one last read the centre
  std::int64_t step;      // the worker's step
  bool operator==(const ServedUpdate&) const = default;
};

// The positions at which the buffer may be divided between servers. `tensors`: between two tensors, because some update rules
// need whole tensors. `floats`: after any multiple of 16 floats.
enum class Cut { tensors, floats };

// One part per server, in order. Together the parts cover the whole buffer of `size` floats. They are as equal as the cut allows;
// a part may be empty.
std::vector<Range> parts_for_servers(std::span<const Range> tensors, std::size_t size, std::size_t servers, Cut cut);

// The messages for a part: the whole part if packed, otherwise the part's share of each tensor without padding. Never contains an
// empty range.
std::vector<Range> messages_of(Range part, std::span<const Range> tensors, bool pack);

// One rank's side of the exchanges. Buffers have the layout of the replica's weights; only the parts of the exchange are read or
// written.
class ParameterServers {
 public:
  // Collective.
  ParameterServers(const StrategyParts& parts, Replica& replica, Cut cut);

  // ---- worker ----

  // Sends a request to every server and waits for all answers.
  void exchange(const Request& request, std::span<const float> sent, std::span<float> received);

  // ---- server ----

  // The part of this server.
  Range part() const { return parts_[own_]; }
  // next(): receives the next head from any worker. next_of(): receives the next head from the given worker.
  Request next();
  Request next_of(std::int64_t worker);
  // Begins to receive a head from any worker; `head` is valid once the transfer is complete.
  comm::Transfer next_begin(Request& head);
  void await(comm::Transfer& arrival);
  // Receives the values of the request into this server's part of `values`.
  void receive(const Request& request, std::span<float> values);
  // Sends this server's part of `values` to the worker. Returns when `values` may be changed again.
  void answer(const Request& request, std::span<const float> values);

  // ---- worker and server ----

  const std::vector<Range>& parts() const { return parts_; }

 private:
  int rank_of(const Request& request) const { return roles_.workers[static_cast<std::size_t>(request.worker)]; }

  comm::Communicator& comm_;
  Roles roles_;
  std::size_t own_; // index of this server; unused on a worker
  int head_tag_, values_tag_, answer_tag_;
  std::vector<Range> parts_;                 // the part of each server
  std::vector<std::vector<Range>> messages_; // the messages of each server's part
};

// The updates of a server's part, with their staleness.
class UpdateLog {
 public:
  explicit UpdateLog(std::size_t workers) : read_(workers, 0) {}
  // Adds an update that is made now. The worker then reads the centre, which contains all updates so far.
  void add(const Request& request);
  // Adds an update whose staleness the caller determined.
  void add(const ServedUpdate& update) { updates_.push_back(update); }
  const std::vector<ServedUpdate>& updates() const { return updates_; }

 private:
  std::vector<std::int64_t> read_; // for each worker: number of updates at its last read
  std::vector<ServedUpdate> updates_;
};

} // namespace dt::sync
