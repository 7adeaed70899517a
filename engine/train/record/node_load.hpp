// The load of the ranks' machines during the measured steps.
#pragma once

#include "core/record/measuring/node_load.hpp"
#include "engine/comm/communicator.hpp"

namespace dt::train {

// This rank and its machine at this moment.
LoadLook look_at_load();

// The records of all machines, on every rank. Collective.
LoadRecord gather_load(const RankLoad& mine, comm::Communicator& comm);

} // namespace dt::train
