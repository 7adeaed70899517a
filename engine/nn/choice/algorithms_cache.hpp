// AlgorithmsCache: the choice of a network's algorithms in a folder of the home, for later runs on this kind of processor.
#pragma once

#include "core/spec/algorithms.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace dt::nn {

class AlgorithmsCache {
 public:
  // The file algorithms-KEY. KEY is a hash of `network` (all that the choice depends on, but for the machine), the processor's
  // model and instruction sets, oneDNN's version and this program's build id (our own kernels). An empty folder: no cache.
  AlgorithmsCache(std::filesystem::path folder, const std::string& network);
  // Empty if there is no such file or if it cannot be read.
  std::optional<Algorithms> read() const;
  // Atomic. Ignores write errors: without a cache the next run only times again.
  void write(const Algorithms& algorithms) const;

 private:
  std::filesystem::path folder_, file_;
};

} // namespace dt::nn
