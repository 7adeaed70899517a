// Parcels: a rank's schedule cut into chunks, with what each has to wait for. Receives are taken in order, so that is a number.
#pragma once

#include "engine/comm/schedule.hpp"

#include <vector>

namespace dt::engine {

struct Parcel {
  int peer = 0;
  Interval stretch;
  Receipt receipt = Receipt::add; // what the receiver does with it
  // Of the rank's own receives, so many must have been taken before this is sent, or before it may be received in place.
  std::size_t after_receives = 0;
  // Of the rank's own sends, so many must be complete before this is added or received in place.
  std::size_t after_sends = 0;
  // Sent only: the parts of the stretch that this rank has itself computed and not sent before (bfloat16: still to be rounded).
  std::vector<Interval> own;
};

// A rank's side of a schedule. Both lists are in the order of posting, and between two ranks their orders agree.
struct Parcels {
  std::vector<Parcel> sends, receives;
};

// Messages are cut every chunk_length numbers from their beginning; chunks of a round's messages take turns. A parcel depends on
// earlier rounds only, and only where the stretches overlap: a chunk goes on as soon as it has come, whatever its round still
// lacks.
Parcels cut_into_parcels(const Schedule& schedule, std::size_t chunk_length);

} // namespace dt::engine
