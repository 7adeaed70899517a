#include "engine/comm/allreduce/scheduled_sum.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/ranks/wait.hpp"

#include <algorithm>

namespace dt::comm {

ScheduledSum::ScheduledSum(Communicator& comm, const Parcels& parcels, const MessageLimits& limits, Wire wire,
                           SumBuffers& buffers, std::span<float> values)
    : comm_(comm), parcels_(parcels), chunk_length_(std::min(limits.chunk_length, values.size())),
      window_(limits.posted_receives), wire_(wire), buffers_(buffers), values_(values), tag_(comm.fresh_tag())
{
  buffers_.arrivals.grow(window_ * chunk_length_);
  buffers_.sends.resize(parcels.sends.size());
  buffers_.receives.resize(window_);
  buffers_.in_place.resize(window_);
  if (wire_ == Wire::bfloat16) buffers_.image.grow(values.size());
  if (comm_.trace() != nullptr) begin_s_ = monotonic_s();
  post_ready();
}

std::span<Bfloat16> ScheduledSum::rounded_arrival(std::size_t slot, std::size_t length)
{
  return {reinterpret_cast<Bfloat16*>(buffers_.arrivals.data() + slot * chunk_length_), length};
}

bool ScheduledSum::advance()
{
  if (complete()) return true;
  notice_sends();
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

// Only where messages must wait for each other: elsewhere a test costs time and tells nothing.
void ScheduledSum::notice_sends()
{
  if (most_messages_on_the_way() > parcels_.sends.size()) return;
  noticed_ = std::max(noticed_, sent_);
  while (noticed_ < posted_sends_ && buffers_.sends[noticed_].test()) ++noticed_;
}

bool ScheduledSum::may_send(std::size_t k) const
{
  const auto most = most_messages_on_the_way();
  if (k < most) return true;
  std::size_t on_the_way = 0;
  for (auto s = std::max(noticed_, sent_); s < k; ++s)
    if (parcels_.sends[s].peer == parcels_.sends[k].peer) ++on_the_way;
  return on_the_way < most;
}

// A receive that is posted when it is next, and not ahead, waits for the sends that it must follow: so a copying one always goes
// directly to its destination.
bool ScheduledSum::may_receive(std::size_t k) const
{
  return k < taken_ + window_ && (window_ > 1 || parcels_.receives[k].after_sends <= sent_);
}

// Posts every send that is ready before this rank waits for anything, because other ranks need it.
void ScheduledSum::post_ready()
{
  for (; posted_receives_ < parcels_.receives.size() && may_receive(posted_receives_); ++posted_receives_)
    post_receive(posted_receives_);
  const auto is_ready = [&](std::size_t k) { return parcels_.sends[k].after_receives <= taken_ && may_send(k); };
  for (; posted_sends_ < parcels_.sends.size() && is_ready(posted_sends_); ++posted_sends_) post_send(posted_sends_);
}

// A copying receive goes directly to its destination when nothing there is still to be added or sent.
void ScheduledSum::post_receive(std::size_t k)
{
  const auto& parcel = parcels_.receives[k];
  const std::size_t slot = k % window_, length = parcel.stretch.size();
  const bool in_place = parcel.receipt == Receipt::copy && parcel.after_receives <= taken_ && parcel.after_sends <= sent_;
  buffers_.in_place[slot] = in_place;
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
