// Timeline: a traced rank's spans from begin to end of its training, with its clock's offset to rank 0's at both ends.
#pragma once

#include "core/record/attempt/trace_record.hpp"
#include "engine/comm/communicator.hpp"

namespace dt::comm {

class Timeline {
 public:
  // comm must outlive the Timeline.
  explicit Timeline(Communicator& comm) : comm_(comm) {}
  // Starts tracing. Collective.
  void begin();
  // Measures the clock offset again. Collective. Does nothing if begin() was not called.
  void end();
  // Writes the record to the attempt's folder. Does nothing if begin() was not called. Throws an environment error that names the
  // file.
  void write(const AttemptFolder& attempt, const std::string& role) const;

 private:
  Communicator& comm_;
  ClockOffset begin_, end_;
};

} // namespace dt::comm
