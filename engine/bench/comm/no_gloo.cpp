#include "core/error.hpp"
#include "engine/bench/comm/gloo_allreduce.hpp"

namespace dt::bench {

std::vector<std::string> gloo_allreduces() { return {}; }

std::unique_ptr<comm::Allreduce> make_gloo_allreduce(const std::string& name, comm::Communicator&)
{
  throw Error(ErrorKind::environment, "dtbench was built without Gloo, so it cannot measure " + name +
                                          "; install libgloo-dev, configure and build again.");
}

} // namespace dt::bench
