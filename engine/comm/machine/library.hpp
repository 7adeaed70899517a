// The MPI library under comm.
#pragma once

namespace dt::comm {

// Whether the library's own allreduce is the one of the machine. A simulator's MPI library has another, whose times say nothing
// about the machine, so `dynamic` does not choose it.
bool has_library_allreduce();

// False: comm's messages go over TCP connections of their own (engine/sockets).
bool has_mpi();

} // namespace dt::comm
