// Whether ranks find each other: what `dtctl doctor --launchers` starts on a cluster.
#pragma once

namespace dt::engine {

// Starts MPI, lets all ranks meet, prints "hello 4 ranks on 2 hosts" on rank 0; the exit status of this rank.
int say_hello();

} // namespace dt::engine
