// The signals that somebody sends to a running job: SIGUSR1 (ahead of a time limit) and SIGTERM (preemption) tell it to stop
// before its end, SIGUSR2 asks what its ranks are doing.
//
// They are held back in every thread and taken by the one that waits for them, never handled: oneDNN's generated kernels use the
// stack pointer as they like, so a handler that interrupts one is given a frame in the middle of the heap (libdnnl 2.6, any
// signal, within seconds).
#pragma once

namespace dt::engine {

// From here on they wait until they are taken; before, they would end the process. Threads inherit it, so it is called before
// any is started, and before MPI.
void hold_signals();

// The first of them that comes within so many seconds, also one that came before; 0 when none does. One thread calls it.
int wait_for_signal(double seconds);

} // namespace dt::engine
