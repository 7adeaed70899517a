// Gloo's allreduces over TCP behind our own interface, so that they can be measured beside ours.
#pragma once

#include "engine/comm/allreduce.hpp"

namespace dt::engine {

// "gloo-ring", "gloo-bcube" and "gloo-halving-doubling"; none when this program was built without Gloo.
std::vector<std::string> gloo_allreduces();

// One of them over all ranks of comm. Collective. Not counted in traffic().
std::unique_ptr<Allreduce> make_gloo_allreduce(const std::string& name, Communicator& comm);

} // namespace dt::engine
