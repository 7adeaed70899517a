// Where this rank runs.
#pragma once

#include <string>
#include <vector>

namespace dt::comm {

struct RankPlace {
  std::string host;
  std::vector<int> cores; // cores in the affinity mask, ascending
};

RankPlace own_place();

} // namespace dt::comm
