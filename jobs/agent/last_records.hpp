// The last files that dtjob writes into an attempt, when the ranks have ended: energy.json, cause.json and end.
#pragma once

#include "jobs/agent/attempt_state.hpp"

namespace dt::jobs::agent {

// The energy of the run, before the end, with which the ingest reads the run again. Without it the result stands.
void record_energy(const AttemptState& state);

// The cause, if there is no result, and `end`. Of an attempt whose folder was removed the folder is made again for them, as long
// as the run is there; otherwise the run would seem to be one that nobody has started yet.
void record_last(const AttemptState& state, int code);

// Holds back the rest of a study whose first runs failed in the same way (follow/hold_back.hpp). A study that cannot be looked at
// goes on.
void hold_back(const AttemptState& state);

} // namespace dt::jobs::agent
