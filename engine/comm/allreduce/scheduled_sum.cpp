#include "engine/comm/allreduce/scheduled_sum.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/ranks/wait.hpp"

#include <algorithm>

namespace dt::comm {

ScheduledSum::ScheduledSum(Communicator& comm, const Parcels& parcels, const MessageLimits& limits, Wire wire,
                           SumBuffers& buffers, std::span<float> values)
    : comm_(comm), parcels_(parcels), limits_(limits),
      window_(std::clamp<std::size_t>(parcels.receives.size(), 1, limits.posted_receives)), wire_(wire), buffers_(buffers),
      values_(values), tag_(comm.fresh_tag())
{
  buffers_.arrivals.grow(window_ * parcels.longest_receive);
  buffers_.sends.resize(parcels.sends.size());
  buffers_.receives.resize(window_);
  buffers_.in_place.resize(window_);
  buffers_.posted_s.resize(window_);
  if (wire_ == Wire::bfloat16) buffers_.image.grow(values.size());
  if (comm_.trace() != nullptr) begin_s_ = monotonic_s();
  post_ready();
}

std::span<Bfloat16> ScheduledSum::rounded_arrival(std::size_t slot, std::size_t length)
{
  return {reinterpret_cast<Bfloat16*>(buffers_.arrivals.data() + slot * parcels_.longest_receive), length};
}

bool ScheduledSum::advance()
{
  if (complete()) return true;
  while (taken_ < parcels_.receives.size()) {
    post_ready();
    if (posted_receives_ == taken_) {
      if (!sends_finished(parcels_.receives[taken_].after_sends)) return false;
      post_ready();
    }
    if (!buffers_.receives[taken_ % window_].test() || !sends_finished(parcels_.receives[taken_].after_sends)) return false;
    take(taken_);
  }
  post_ready();
  if (!sends_finished(parcels_.sends.size())) return false;
  note_end();
  return true;
}

void ScheduledSum::wait()
{
  if (complete()) return;
  while (taken_ < parcels_.receives.size()) {
    post_ready();
    const auto& next = parcels_.receives[taken_];
    if (posted_receives_ == taken_) {
      finish_sends(next.after_sends);
      post_ready();
    }
    const double begin = comm_.trace() != nullptr ? monotonic_s() : 0;
    comm_.activity().enter(Doing::waits, "waits for a part of a sum", next.peer);
    post_at_pace();
    wait_for_receive(taken_);
    if (comm_.trace() != nullptr)
      comm_.trace()->add({"wait", "communication", begin, monotonic_s(),
                          static_cast<std::int64_t>(next.stretch.size() * sizeof(float)), next.peer});
    finish_sends(next.after_sends);
    take(taken_);
  }
  post_ready();
  finish_sends(parcels_.sends.size());
  note_end();
}

// Sends that complete meanwhile are noticed, but do not count in sent_: which receives go in place must not depend on what a
// machine notices.
void ScheduledSum::wait_for_receive(std::size_t k)
{
  for (;;) {
    noticed_ = std::max(noticed_, sent_);
    if (wait_beside(buffers_.receives[k % window_], noticed_ < posted_sends_ ? &buffers_.sends[noticed_] : nullptr)) return;
    ++noticed_;
    post_ready();
  }
}

// The transfer of a simulated whole slice begins when its receive is posted. So the next one is posted when this one leaves the
// link, a latency before it has arrived: at once all would come in any order, several to the same rank while others idle. A
// copying one always goes directly to its destination.
bool ScheduledSum::may_receive(std::size_t k) const
{
  if (k >= taken_ + window_) return false;
  if (limits_.pace.bytes_per_s == 0) return true;
  if (parcels_.receives[k].receipt == Receipt::copy && !is_place_free(k)) return false;
  return k == taken_ || monotonic_s() >= next_post_s(k - 1);
}

// When the receive behind receive k may be posted.
double ScheduledSum::next_post_s(std::size_t k) const
{
  const auto number_bytes = wire_ == Wire::bfloat16 ? sizeof(Bfloat16) : sizeof(float);
  return buffers_.posted_s[k % window_] + limits_.pace.transfer_s(parcels_.receives[k].stretch.size() * number_bytes);
}

// Posts what may be posted before the next receive can be complete.
void ScheduledSum::post_at_pace()
{
  while (limits_.pace.bytes_per_s > 0 && posted_receives_ < parcels_.receives.size()) {
    const double next_s = next_post_s(posted_receives_ - 1);
    if (next_s >= next_post_s(taken_) + limits_.pace.latency_s) return;
    wait_until_s(next_s);
    if (!may_receive(posted_receives_)) return;
    post_ready();
  }
}

// Whether nothing there is still to be added or sent.
bool ScheduledSum::is_place_free(std::size_t k) const
{
  return parcels_.receives[k].after_receives <= taken_ && parcels_.receives[k].after_sends <= sent_;
}

// Posts every send that is ready before this rank waits for anything, because other ranks need it.
void ScheduledSum::post_ready()
{
  for (; posted_receives_ < parcels_.receives.size() && may_receive(posted_receives_); ++posted_receives_)
    post_receive(posted_receives_);
  const auto is_ready = [&](std::size_t k) { return parcels_.sends[k].after_receives <= taken_; };
  for (; posted_sends_ < parcels_.sends.size() && is_ready(posted_sends_); ++posted_sends_) post_send(posted_sends_);
}

void ScheduledSum::post_receive(std::size_t k)
{
  const auto& parcel = parcels_.receives[k];
  const std::size_t slot = k % window_, length = parcel.stretch.size();
  const bool in_place = parcel.receipt == Receipt::copy && is_place_free(k);
  buffers_.in_place[slot] = in_place;
  if (limits_.pace.bytes_per_s > 0) buffers_.posted_s[slot] = monotonic_s();
  auto& transfer = buffers_.receives[slot];
  if (wire_ == Wire::float32)
    transfer = comm_.receive_begin(in_place ? values_at(parcel.stretch) : arrival(slot, length), parcel.peer, tag_);
  else
    transfer = comm_.receive_begin(std::as_writable_bytes(in_place ? image_at(parcel.stretch) : rounded_arrival(slot, length)),
                                   parcel.peer, tag_);
}

void ScheduledSum::post_send(std::size_t k)
{
  const auto& parcel = parcels_.sends[k];
  if (wire_ == Wire::float32) {
    buffers_.sends[k] = comm_.send_begin(std::span<const float>(values_at(parcel.stretch)), parcel.peer, tag_);
    return;
  }
  for (const auto& stretch : parcel.own) {
    round_to_bfloat16(values_at(stretch), image_at(stretch));
    if (parcel.receipt == Receipt::copy) widen(image_at(stretch), values_at(stretch));
  }
  buffers_.sends[k] = comm_.send_begin(std::as_bytes(image_at(parcel.stretch)), parcel.peer, tag_);
}

void ScheduledSum::take(std::size_t k)
{
  const auto& parcel = parcels_.receives[k];
  const std::size_t slot = k % window_;
  const auto values = values_at(parcel.stretch);
  if (wire_ == Wire::bfloat16)
    take_rounded(parcel, slot);
  else if (parcel.receipt == Receipt::add)
    add_arrival_to(values, arrival(slot, values.size()));
  else if (!buffers_.in_place[slot])
    copy_to(arrival(slot, values.size()), values);
  ++taken_;
}

void ScheduledSum::take_rounded(const Parcel& parcel, std::size_t slot)
{
  const auto came = rounded_arrival(slot, parcel.stretch.size());
  if (parcel.receipt == Receipt::add) return add_arrival_to(values_at(parcel.stretch), std::span<const Bfloat16>(came));
  const auto image = image_at(parcel.stretch);
  if (!buffers_.in_place[slot]) copy_to(came, image);
  widen(image, values_at(parcel.stretch));
}

void ScheduledSum::finish_sends(std::size_t count)
{
  for (; sent_ < count; ++sent_) {
    comm_.activity().enter(Doing::waits, "waits until its part of a sum is taken", parcels_.sends[sent_].peer);
    if (sent_ >= noticed_) buffers_.sends[sent_].wait();
    noticed_ = std::max(noticed_, sent_ + 1);
    post_ready();
  }
}

bool ScheduledSum::sends_finished(std::size_t count)
{
  while (sent_ < count && sent_ < posted_sends_ && buffers_.sends[sent_].test()) {
    ++sent_;
    post_ready();
  }
  return sent_ >= count;
}

void ScheduledSum::note_end()
{
  if (comm_.trace() == nullptr) return;
  comm_.trace()->add({"allreduce", "sums", begin_s_, monotonic_s(), static_cast<std::int64_t>(values_.size_bytes())});
}

} // namespace dt::comm
