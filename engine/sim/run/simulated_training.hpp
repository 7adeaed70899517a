// SimulatedTraining: the steps of one run on simulated ranks. The strategy, its communication and the measurement are those of
// dtengine; only the computation is modelled.
#pragma once

#include "core/record/run_record.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sim/run/compute_model.hpp"
#include "engine/train/loop/observer.hpp"

namespace dt::sim {

// Trains on the calling rank. The result is complete on rank 0 only: throughput, phases, traffic and work sums in simulated
// seconds; nothing is evaluated, and there are no weights. Throws a recipe error for what cannot be simulated. Collective.
RunResult train_simulated(const RunSpec& spec, const ComputeModel& model, comm::Communicator& comm, train::Observer& observer);

} // namespace dt::sim
