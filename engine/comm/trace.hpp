// Trace: a rank's timeline in memory, for drawing. Kept only when the recipe asks for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace dt::engine {

// Something that took time on a rank.
struct Span {
  const char* name;       // a string literal: "forward", "bucket", "send"
  const char* track;      // a string literal; what the span is drawn under: "compute", "communication"
  double begin_s, end_s;  // of monotonic_s()
  std::int64_t bytes = -1; // -1: none to speak of
  int peer = -1;          // rank at the other end; -1: none
  int tag = -1;           // of a message; with peer it tells which arrival belongs to which departure
  std::int64_t step = -1; // filled by the trace
};

// Room for so many spans is set aside and used as they come; what comes after them is counted and forgotten.
class Trace {
public:
  static constexpr std::size_t usual_room = std::size_t{1} << 19; // 32 MiB

  explicit Trace(std::size_t room = usual_room);
  // Any thread.
  void add(Span span);
  // Spans that are added from here on belong to this step.
  void begin_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  // Those kept, in the order in which they were added. While no thread adds any.
  std::span<const Span> spans() const;
  std::int64_t forgotten() const;

private:
  std::size_t room_;
  std::unique_ptr<std::byte[]> memory_; // of spans, which need no destruction
  std::atomic<std::size_t> added_{0};
  std::atomic<std::int64_t> step_{0};
};

} // namespace dt::engine
