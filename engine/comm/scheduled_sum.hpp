// ScheduledSum: one allreduce on its way along a schedule.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/kernels.hpp"
#include "engine/comm/parcels.hpp"

namespace dt::engine {

enum class Wire { float32, bfloat16 };

// What one sum needs besides its values, kept from sum to sum.
struct SumBuffers {
  std::vector<float> arrivals;           // a chunk for each receive that is posted
  std::vector<Bfloat16> image;           // bfloat16: the vector as it travels
  std::vector<Transfer> sends, receives; // of every send; of the receives that are posted
  std::vector<bool> in_place;            // of the receives that are posted: straight into the vector or its image
};

// Sends what is ready, takes what has come. Receives are taken in the order of the schedule, so the result does not depend on
// timing; later ones are posted ahead. A chunk is added while others travel.
//
// bfloat16: numbers are rounded when they are sent for the first time, and what is received is added in float32 to what this rank
// has; the owner of a sum rounds it when it sends it, and keeps the rounded value itself, so that all ranks end with equal bits.
class ScheduledSum : public PendingSum {
 public:
  // Chunks of at most chunk_length numbers; parcels and buffers must stay. All ranks make theirs in the same order.
  ScheduledSum(Communicator& comm, const Parcels& parcels, std::size_t chunk_length, Wire wire, SumBuffers& buffers,
               std::span<float> values);
  bool advance() override;
  void wait() override;

 private:
  bool complete() const { return taken_ == parcels_.receives.size() && sent_ == parcels_.sends.size(); }
  void post_ready();
  void post_receive(std::size_t k);
  void post_send(std::size_t k);
  void take(std::size_t k);
  void take_rounded(const Parcel& parcel, std::size_t slot);
  void finish_sends(std::size_t count);
  bool sends_finished(std::size_t count);
  void note_end();
  std::span<float> values_at(Interval stretch) { return values_.subspan(stretch.begin, stretch.size()); }
  std::span<Bfloat16> image_at(Interval stretch) { return std::span(buffers_.image).subspan(stretch.begin, stretch.size()); }
  std::span<float> arrival(std::size_t slot, std::size_t length)
  {
    return std::span(buffers_.arrivals).subspan(slot * chunk_length_, length);
  }
  std::span<Bfloat16> rounded_arrival(std::size_t slot, std::size_t length);

  Communicator& comm_;
  const Parcels& parcels_;
  std::size_t chunk_length_;
  Wire wire_;
  SumBuffers& buffers_;
  std::span<float> values_;
  int tag_;
  double begin_s_ = 0;
  std::size_t posted_receives_ = 0, posted_sends_ = 0; // so many, from the first
  std::size_t taken_ = 0, sent_ = 0;                   // received and added or in place; sent and complete
};

} // namespace dt::engine
