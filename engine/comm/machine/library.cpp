#include "engine/comm/machine/library.hpp"

namespace dt::comm {

bool has_library_allreduce() { return true; }

} // namespace dt::comm
