// Parameter servers: who holds which part of the weights, and the messages between workers and servers.
//
// An exchange of a worker with a server is a request (a head, then the worker's values of the server's part) and an answer (the
// server's values of it). Values are one message, or one a tensor (sync.pack). So with S servers, n floats in M messages, and
// M = S when packed, one exchange costs
//   the worker     S heads + M messages    24 S + 4 n bytes
//   the servers    M messages                     4 n bytes
// Messages are two-sided: a server answers when it wants to, so first come first served, in turn and without a lock differ only in
// what it does with requests.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/sync/replica.hpp"
#include "engine/sync/strategy.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dt::engine {

// The head of a request.
struct Request {
  std::int64_t worker = 0; // index among the workers
  std::int64_t step = 0;   // the worker's, from 1
  double rate = 0;         // at that step: the learning rate, or the elastic rate
};

// An update of the centre, in the order in which a server made them.
struct ServedUpdate {
  std::int32_t worker;
  std::int32_t staleness; // updates by other workers since this one last read the centre
  std::int64_t step;      // the worker's
  bool operator==(const ServedUpdate&) const = default;
};

// Where servers' parts may begin: at any tensor, for update rules that look at whole tensors, or at any 16th float.
enum class Cut { tensors, floats };

// A part for each server: in order, together the whole buffer of `size` floats, as equal as the cut allows; a part may be empty.
std::vector<Stretch> parts_for_servers(std::span<const Stretch> tensors, std::size_t size, std::size_t servers, Cut cut);

// What goes in one message each: the part, or what lies in it of each tensor, without the padding. Never an empty stretch.
std::vector<Stretch> messages_of(const Stretch& part, std::span<const Stretch> tensors, bool pack);

// A rank's side of the exchanges. Buffers are laid out as the replica's weights; only the parts concerned are touched.
class ParameterServers {
public:
  // Collective.
  ParameterServers(const StrategyParts& parts, Replica& replica, Cut cut);

  // ---- worker ----

  // Sends a request to every server and waits for all answers.
  void exchange(const Request& request, std::span<const float> sent, std::span<float> received);

  // ---- server ----

  // The part that this server holds.
  const Stretch& part() const { return parts_[own_]; }
  // The head of the request that comes first, or of that worker's next one.
  Request next();
  Request next_of(std::int64_t worker);
  // The same without waiting: `head` is there once the transfer is complete.
  Transfer next_begin(Request& head);
  void await(Transfer& arrival);
  // The values that belong to the head.
  void receive(const Request& request, std::span<float> values);
  // Answers; returns when `values` may be written again.
  void answer(const Request& request, std::span<const float> values);

  // ---- anyone ----

  const std::vector<Stretch>& parts() const { return parts_; }

private:
  int rank_of(const Request& request) const { return roles_.workers[static_cast<std::size_t>(request.worker)]; }

  Communicator& comm_;
  Roles roles_;
  std::size_t own_; // index of this server
  int head_tag_, values_tag_, answer_tag_;
  std::vector<Stretch> parts_;                 // of each server
  std::vector<std::vector<Stretch>> messages_; // of each server's part
};

// The updates of a server's part, numbered and with their staleness.
class UpdateLog {
public:
  explicit UpdateLog(std::size_t workers) : read_(workers, 0) {}
  // The worker's update, made now, after which the worker has read the centre with all updates so far.
  void add(const Request& request);
  // An update with a staleness found elsewhere.
  void add(const ServedUpdate& update) { updates_.push_back(update); }
  const std::vector<ServedUpdate>& updates() const { return updates_; }

private:
  std::vector<std::int64_t> read_; // of each worker: updates when it last read
  std::vector<ServedUpdate> updates_;
};

} // namespace dt::engine
