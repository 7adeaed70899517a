#include "engine/sync/machine/threads.hpp"
#include "core/error.hpp"

namespace dt::sync {

void require_threads(const std::string& user)
{
  throw Error(ErrorKind::recipe, "dtsim cannot simulate " + user + " yet: a simulated rank computes in one thread.");
}

} // namespace dt::sync
