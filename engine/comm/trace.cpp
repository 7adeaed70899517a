#include "engine/comm/trace.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

namespace dt::comm {

static_assert(std::is_trivially_destructible_v<Span> && alignof(Span) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

Trace::Trace(std::size_t room) : room_(room), memory_(std::make_unique_for_overwrite<std::byte[]>(room * sizeof(Span))) {}

void Trace::add(Span span)
{
  const auto place = added_.fetch_add(1, std::memory_order_relaxed);
  if (place >= room_) return;
  if (span.step < 0) span.step = step_.load(std::memory_order_relaxed);
  ::new (memory_.get() + place * sizeof(Span)) Span(span);
}

std::span<const Span> Trace::spans() const
{
  return {std::launder(reinterpret_cast<const Span*>(memory_.get())), std::min(added_.load(), room_)};
}

std::int64_t Trace::forgotten() const { return static_cast<std::int64_t>(added_.load() - spans().size()); }

} // namespace dt::comm
