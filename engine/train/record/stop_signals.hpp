// The signals that a running job receives: SIGUSR1 (before a time limit) and SIGTERM (preemption) ask it to stop; SIGUSR2 asks
// what its ranks are doing.
//
// The signals are blocked in every thread, and one thread fetches them with sigtimedwait. They have no handlers, because oneDNN's
// generated kernels use the stack pointer as a general register: a handler that interrupts such a kernel would put its frame in
// the middle of the heap (observed with libdnnl 2.6, any signal, within seconds).
#pragma once

namespace dt::train {

// Blocks the signals until wait_for_signal() fetches them; unblocked, they would end the process. New threads inherit the mask,
// so call it before any thread starts and before MPI.
void hold_signals();

// Waits up to `seconds` for one of the signals, including one that is already pending. Returns 0 if none comes. Only one thread
// may call it.
int wait_for_signal(double seconds);

} // namespace dt::train
