// Timeline: a traced rank's spans from the beginning of its training to the end, with its clock compared to rank 0's at both.
#pragma once

#include "core/trace_record.hpp"
#include "engine/comm/communicator.hpp"

namespace dt::engine {

class Timeline {
public:
  // comm must outlive it.
  explicit Timeline(Communicator& comm) : comm_(comm) {}
  // From here on spans are kept. Collective.
  void begin();
  // Collective; nothing when it was not begun.
  void end();
  // The record, in the attempt's folder. Nothing when it was not begun. An environment error that names the file.
  void write(const AttemptFolder& attempt, const std::string& role) const;

private:
  Communicator& comm_;
  ClockOffset begin_, end_;
};

} // namespace dt::engine
