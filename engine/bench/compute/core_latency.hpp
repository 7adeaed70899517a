// How far the cores of a team of threads are from each other.
#pragma once

namespace dt::bench {

// Nanoseconds that a cache line takes from the first thread's core to the core of another one of `threads` OpenMP threads, the
// most of all; 0 for one thread. Cores that share a last-level cache need 20 to 40 ns, others 100 to 300. On a virtual machine it
// changes when the host moves a core, and with it the speed of computations whose threads read what others wrote.
double core_latency_ns(int threads);

} // namespace dt::bench
