// Trace: a rank's timeline in memory, for drawing. Kept only when the recipe asks for it.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::engine {

// Something that took time on a rank.
struct Span {
  const char* name;       // a string literal: "forward", "bucket", "send"
  const char* track;      // a string literal; what the span is drawn under: "compute", "communication"
  double begin_s, end_s;  // of monotonic_s()
  std::int64_t bytes = -1; // -1: none to speak of
  int peer = -1;          // rank at the other end; -1: none
};

// One thread at a time.
class Trace {
public:
  void add(const Span& span) { spans_.push_back(span); }
  const std::vector<Span>& spans() const { return spans_; }

private:
  std::vector<Span> spans_;
};

} // namespace dt::engine
