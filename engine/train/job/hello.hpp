// Checks that ranks can reach each other: the test program of `dtctl doctor --launchers`.
#pragma once

namespace dt::train {

// Starts MPI, makes all ranks meet in a barrier, and prints "hello 4 ranks on 2 hosts" on rank 0. Returns this rank's exit
// status.
int say_hello();

} // namespace dt::train
