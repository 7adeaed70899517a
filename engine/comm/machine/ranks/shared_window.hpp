// SharedWindow: memory that all ranks of a communicator can access; each rank owns one part.
#pragma once

#include "engine/comm/machine/ranks/shared_memory.hpp"

#include <cstddef>
#include <vector>

namespace dt::comm {

class SharedWindow {
 public:
  // Gives each rank of `node` part_bytes zero bytes. The ranks must share memory. Every rank touches its own part first, so that
  // it is placed in the memory nearest to the rank's core. Collective, and so is the end (SharedMemory).
  SharedWindow(Communicator& node, std::size_t part_bytes);

  // The parts of all ranks, each on a page of its own.
  const std::vector<std::byte*>& parts() const { return parts_; }

 private:
  SharedWindow(Communicator& node, std::size_t part_bytes, const std::vector<std::size_t>& begins);
  SharedMemory memory_;
  std::vector<std::byte*> parts_;
};

} // namespace dt::comm
