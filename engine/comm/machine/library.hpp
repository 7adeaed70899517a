// Whether sums may be left to the machine's MPI library.
#pragma once

namespace dt::comm {

// Whether the library's own allreduce is the one of the machine. A simulator's MPI library has another, whose times say nothing
// about the machine, so `dynamic` does not choose it.
bool has_library_allreduce();

} // namespace dt::comm
