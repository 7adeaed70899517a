#include "engine/comm/machine/place.hpp"

#include "core/machine/process.hpp"

namespace dt::comm {

RankPlace own_place() { return {host_name(), cores_in_mask()}; }

} // namespace dt::comm
