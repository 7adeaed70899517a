// MpiWorld: initialises MPI and finalises it on destruction. At most one object in a program's life.
#pragma once

#include "core/error.hpp"
#include "engine/comm/communicator.hpp"

namespace dt::comm {

class MpiWorld {
 public:
  // MPI_THREAD_SERIALIZED: other threads than the first may call MPI, but never two at once.
  MpiWorld()
  {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_SERIALIZED)
      throw Error(ErrorKind::environment,
                  "This MPI library does not offer MPI_THREAD_SERIALIZED; use one that was built with threads.");
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  ~MpiWorld() { MPI_Finalize(); }
};

} // namespace dt::comm
