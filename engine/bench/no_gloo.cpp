#include "core/error.hpp"
#include "engine/bench/gloo_allreduce.hpp"

namespace dt::engine {

std::vector<std::string> gloo_allreduces() { return {}; }

std::unique_ptr<Allreduce> make_gloo_allreduce(const std::string& name, Communicator&)
{
  throw Error(ErrorKind::environment, "dtbench was built without Gloo, so it cannot measure " + name +
                                          "; install libgloo-dev, configure and build again.");
}

} // namespace dt::engine
