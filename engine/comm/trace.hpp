// Trace: a rank's timeline in memory, for drawing. Recorded only when the recipe asks for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace dt::comm {

// A time interval on a rank.
struct Span {
  const char* name;        // a string literal: "forward", "bucket", "send"
  const char* track;       // a string literal: the row that shows the span, "compute" or "communication"
  double begin_s, end_s;   // monotonic_s()
  std::int64_t bytes = -1; // -1: not applicable
  int peer = -1;           // rank at the other end; -1: none
  int tag = -1;            // message tag; with peer it pairs a send with its receive
  std::int64_t step = -1;  // -1: the trace's current step
};

// Has room for a fixed number of spans, allocated at construction. Further spans are only counted.
class Trace {
 public:
  static constexpr std::size_t usual_room = std::size_t{1} << 19; // 32 MiB

  explicit Trace(std::size_t room = usual_room);
  // May be called from any thread.
  void add(Span span);
  // Sets the step of all spans added from now on that have none of their own.
  void begin_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  // The recorded spans in the order of adding. Must not be called while another thread adds spans.
  std::span<const Span> spans() const;
  std::int64_t forgotten() const;

 private:
  std::size_t room_;
  std::unique_ptr<std::byte[]> memory_; // holds Span objects; they need no destructor
  std::atomic<std::size_t> added_{0};
  std::atomic<std::int64_t> step_{0};
};

} // namespace dt::comm
