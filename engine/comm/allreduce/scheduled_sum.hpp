// ScheduledSum: one allreduce in progress that follows a schedule.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/allreduce/parcels.hpp"
#include "engine/comm/machine/message.hpp"
#include "engine/comm/vectors.hpp"

namespace dt::comm {

// The buffers of one sum besides its values; reused by later sums.
struct SumBuffers {
  Floats arrivals;                       // one chunk for each receive that may be posted
  Buffer<Bfloat16> image;                // bfloat16 only: the vector as sent
  std::vector<Transfer> sends, receives; // all sends; the posted receives
  std::vector<bool> in_place;            // for each posted receive: whether it goes directly into the vector or its image
  std::vector<double> posted_s;          // for each posted receive of whole slices: when
};

// Sends each parcel when it is ready and processes received parcels while others are in transit. Receives are processed in the
// order of the schedule, so the result does not depend on timing; later receives are posted ahead.
//
// With bfloat16, a number is rounded when this rank first sends it. A received number is added in float32. The owner of a sum
// rounds the sum when it sends it and keeps the rounded value, so all ranks end with the same bits.
class ScheduledSum : public PendingSum {
 public:
  // `parcels` must be cut for limits.chunk_length. `parcels` and `buffers` must outlive the sum. Collective: all ranks construct
  // their sums in the same order.
  ScheduledSum(Communicator& comm, const Parcels& parcels, const MessageLimits& limits, Wire wire, SumBuffers& buffers,
               std::span<float> values);
  bool advance() override;
  void wait() override;

 private:
  bool complete() const { return taken_ == parcels_.receives.size() && sent_ == parcels_.sends.size(); }
  void post_ready();
  bool may_receive(std::size_t k) const;
  bool is_place_free(std::size_t k) const;
  double next_post_s(std::size_t k) const;
  void post_at_pace();
  void wait_for_receive(std::size_t k);
  void post_receive(std::size_t k);
  void post_send(std::size_t k);
  void take(std::size_t k);
  void take_rounded(const Parcel& parcel, std::size_t slot);
  void finish_sends(std::size_t count);
  bool sends_finished(std::size_t count);
  void note_end();
  std::span<float> values_at(Range stretch) { return dt::values_at(values_, stretch); }
  std::span<Bfloat16> image_at(Range stretch) { return dt::values_at(std::span(buffers_.image), stretch); }
  std::span<float> arrival(std::size_t slot, std::size_t length)
  {
    return std::span(buffers_.arrivals).subspan(slot * parcels_.longest_receive, length);
  }
  std::span<Bfloat16> rounded_arrival(std::size_t slot, std::size_t length);

  Communicator& comm_;
  const Parcels& parcels_;
  MessageLimits limits_;
  std::size_t window_; // the most posted receives
  Wire wire_;
  SumBuffers& buffers_;
  std::span<float> values_;
  int tag_;
  double begin_s_ = 0;
  std::size_t posted_receives_ = 0, posted_sends_ = 0; // number of posted receives and sends, counted from the first
  std::size_t taken_ = 0, sent_ = 0;                   // receives that are processed; sends that are complete
  std::size_t noticed_ = 0; // sends that were found complete, counted from the first; some may not count in sent_ yet
};

} // namespace dt::comm
