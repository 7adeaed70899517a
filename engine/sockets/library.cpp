#include "engine/comm/machine/library.hpp"

namespace dt::comm {

bool has_library_allreduce() { return false; }
bool has_mpi() { return false; }

} // namespace dt::comm
