#include "engine/comm/machine/library.hpp"

namespace dt::comm {

bool has_library_allreduce() { return true; }
bool has_mpi() { return true; }

} // namespace dt::comm
