// The address at which the ranks of an attempt meet: rank 0 chooses a port of its host, the others wait for it.
#pragma once

#include "core/record/attempt_files.hpp"

#include <string>

namespace dt::jobs {

struct MeetingPoint {
  std::string host;
  int port = 0;
};

// On rank 0. The port is free, and it is locked: while this process or a program that it becomes lives, no other rank 0 on this
// machine gets the same one. Writes the attempt's file `master`. `host` is the address for the ranks.
MeetingPoint choose_meeting_point(const AttemptFolder& attempt, const std::string& host);

// On the other ranks: waits for the file. Throws an environment error after `patience_s`.
MeetingPoint wait_for_meeting_point(const AttemptFolder& attempt, double patience_s = 60);

} // namespace dt::jobs
