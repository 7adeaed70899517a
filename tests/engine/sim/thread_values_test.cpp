// Strategies with threads compute the right weights on simulated ranks.
#include "engine/sim/run/simulation.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/step/step_timer.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

constexpr int steps = 3;
constexpr float slope = 0.5F;

RunSpec spec_of(const std::string& strategy)
{
  RunSpec spec;
  spec.sync = {.strategy = strategy, .allreduce = "ring", .progress = ProgressMode::automatic, .servers = 1, .server_threads = 2};
  return spec;
}

struct Trained {
  double weight = 0; // of the centre, or of the rank
  std::string place; // of the communication thread
  std::string progress;
};

Trained train_steps(const RunSpec& spec, comm::Communicator& comm)
{
  const auto parts = sync::make_parts(spec, comm, {});
  const auto strategy = sync::make_strategy(parts);
  sync::ModelledReplica replica({.scale = 0.001, .forward_s = 0.01, .backward_s = 0.02, .sleeps = true, .slope = slope});
  train::StepTimer timer;
  strategy->start(replica);
  for (int step = 0; step < steps; ++step) {
    replica.begin_step();
    strategy->step(replica, timer);
  }
  comm::Floats centre(replica.weights().size());
  if (strategy->has_centre()) strategy->read_centre(replica, centre);
  Trained outcome{strategy->has_centre() ? *centre.begin() : replica.weights()[0], {}, parts.progress_words};
  for (const auto& [name, fact] : strategy->facts())
    if (name == "communication thread") outcome.place = fact;
  return outcome;
}

} // namespace

TEST_CASE("a communication thread and a server's threads compute the weights that the strategy defines")
{
  const sim::Platform platform{.nodes = 4, .cores_per_rank = 2};
  std::map<std::string, Trained> outcomes;
  sim::simulate({.platform = platform, .folded = false}, [&](comm::Communicator& comm) {
    for (const std::string strategy : {"sync-sgd", "hogwild-sgd"}) {
      const auto own = train_steps(spec_of(strategy), comm);
      if (comm.is_root()) outcomes[strategy] = own;
    }
  });
  // An update adds -0.01 times the gradient. The replica does not compute gradients anew, so each sum over the four ranks makes
  // them four times as long; the update divides by four.
  CHECK(outcomes["sync-sgd"].weight == Approx(-0.01 * slope * (1 + 4 + 16)));
  // A server makes an update for each of the three workers, which do not sum.
  CHECK(outcomes["hogwild-sgd"].weight == Approx(-0.01 * slope * steps * 3));
  // The node has a second core for its rank, so `auto` takes it.
  CHECK(outcomes["sync-sgd"].progress == "thread: every rank has a core to spare");
  CHECK(outcomes["sync-sgd"].place == "core 1 of its own");
}
