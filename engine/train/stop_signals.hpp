// The signals that tell a running job to stop before its end: SIGUSR1 (ahead of a time limit) and SIGTERM (preemption).
#pragma once

namespace dt::engine {

// From here on both are only noted; before, they would end the process. To be called before MPI starts.
void catch_stop_signals();

// The last of them that this process received; 0 when none has come.
int stop_signal();

} // namespace dt::engine
