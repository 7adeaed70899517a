// Gloo's other allreduces behind our Allreduce interface, to compare them with its ring, the allreduce `gloo`.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"

namespace dt::bench {

// "gloo-bcube" and "gloo-halving-doubling"; empty if this program was built without Gloo.
std::vector<std::string> gloo_allreduces();

// Makes one of them over all ranks of comm. Its traffic is not counted in traffic(). Collective.
std::unique_ptr<comm::Allreduce> make_gloo_allreduce(const std::string& name, comm::Communicator& comm);

} // namespace dt::bench
