// RankPlace: the host that a rank runs on, and the cores that it may use.
#pragma once

#include <string>
#include <vector>

namespace dt::comm {

struct RankPlace {
  std::string host;
  std::vector<int> cores; // cores in the affinity mask, ascending
};

// The place of the calling rank.
RankPlace own_place();

} // namespace dt::comm
