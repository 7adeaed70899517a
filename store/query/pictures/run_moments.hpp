// When the runs of a study ran, and how fast: to see whether the machine changed meanwhile.
#pragma once

#include "store/database/database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::store {

// A succeeded run.
struct RunMoment {
  std::string key, name, label; // label: without the size
  std::int64_t nodes = 0, ranks = 0;
  bool is_control = false;
  double begin_unix_s = 0;
  double throughput = 0; // samples/s
};

// The succeeded runs of a study that have a throughput, A/A controls too, by the time of their begin.
std::vector<RunMoment> run_moments(Database& database, const std::string& study_id);

} // namespace dt::store
