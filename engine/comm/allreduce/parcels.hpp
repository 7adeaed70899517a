// Parcels: a rank's schedule cut into chunks, each with its dependencies. Receives complete in order, so a dependency on receives
// is a count.
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"

#include <vector>

namespace dt::comm {

struct Parcel {
  int peer = 0;
  Range stretch;
  Receipt receipt = Receipt::add; // what the receiver does with the chunk
  // Number of this rank's receives that must be complete before this parcel is sent, or before it is received in place.
  std::size_t after_receives = 0;
  // Number of this rank's sends that must be complete before this parcel is added or received in place.
  std::size_t after_sends = 0;
  // Sends only: the parts of the stretch that this rank computed itself and has not sent before. With bfloat16, these parts must
  // still be rounded.
  std::vector<Range> own;
};

// One rank's side of a schedule. Both lists are in the order of posting. For each pair of ranks, sends and receives have the same
// order.
struct Parcels {
  std::vector<Parcel> sends, receives;
  std::size_t longest_receive = 0; // numbers
};

// Cuts messages into chunks of chunk_length numbers. The chunks of a round's messages alternate. A parcel depends only on parcels
// of earlier rounds whose stretches overlap its own, so a received chunk can be sent on before its round is complete,
// unless the next round begins in turn (Round::in_turn).
Parcels cut_into_parcels(const Schedule& schedule, std::size_t chunk_length);

} // namespace dt::comm
