// SharedWindow: memory that all ranks of a communicator reach, each with a part of its own.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstddef>
#include <vector>

namespace dt::engine {

class SharedWindow {
public:
  // The ranks of `node`, which must share memory, get `part_bytes` zeros each; every rank touches its own first, so that
  // it lies in the memory nearest to its core. Collective.
  SharedWindow(Communicator& node, std::size_t part_bytes);
  // Collective, unless an error is on its way: then the other ranks may never come, and the program's end frees the memory.
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // The part of each rank, aligned to a cache line pair.
  const std::vector<std::byte*>& parts() const { return parts_; }

private:
  int errors_before_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> parts_;
};

} // namespace dt::engine
