// SharedWindow: memory that all ranks of a communicator can access; each rank owns one part.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstddef>
#include <vector>

namespace dt::comm {

class SharedWindow {
 public:
  // Gives each rank of `node` part_bytes zero bytes. The ranks must share memory. Every rank touches its own part first, so that
  // it is placed in the memory nearest to the rank's core. Collective.
  SharedWindow(Communicator& node, std::size_t part_bytes);
  // Collective, except while an exception unwinds: the other ranks may then never arrive, and the end of the program frees the
  // memory.
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // The parts of all ranks, aligned to 128 bytes (two cache lines).
  const std::vector<std::byte*>& parts() const { return parts_; }

 private:
  int errors_before_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> parts_;
};

} // namespace dt::comm
