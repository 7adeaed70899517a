// Packs the parts of a plan with several threads.
#pragma once

#include "engine/data/packing/journal.hpp"
#include "engine/data/packing/plan.hpp"

#include <functional>
#include <vector>

namespace dt::data {

struct PartPool {
  const PackPlan& plan;
  SourceReader& source;
  int threads = 1;
  // Writes a record at its place in the file. Is called by several threads at once.
  std::function<void(std::uint64_t begin, std::string_view record)> write;
  // Takes the result of a finished part. Is called by one thread at a time.
  std::function<void(PartResult&&)> finish;

  // Packs these parts (ascending) and returns when all threads have ended. Rethrows the error of the first part that failed:
  // which one this is does not depend on threads.
  void run(const std::vector<std::int64_t>& parts);
};

} // namespace dt::data
