// A simulated machine has no load beside the run's.
#include "engine/train/record/node_load.hpp"

namespace dt::train {

LoadLook look_at_load() { return {}; }

LoadRecord gather_load(const RankLoad&, comm::Communicator&) { return {}; }

} // namespace dt::train
