// The signals that tell a running job to stop before its end: SIGUSR1 (ahead of a time limit) and SIGTERM (preemption).
//
// They are held back and asked for between two steps, never handled: oneDNN's generated kernels use the stack pointer as they
// like, so a handler that interrupts one is given a frame in the middle of the heap (libdnnl 2.6, any signal, within seconds).
#pragma once

namespace dt::engine {

// From here on both wait until they are asked for; before, they would end the process. Threads inherit it, so it is called
// before any is started, and before MPI.
void hold_stop_signals();

// The one of them that has come since the last call; 0 when none has. Costs about a microsecond.
int take_stop_signal();

} // namespace dt::engine
