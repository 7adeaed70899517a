// The trainer under asynchronous strategies: what ranks at different steps agree on. Started by mpirun with several counts of
// ranks.
#include "engine/train/loop/trainer.hpp"
#include "tests/support/engine_run.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::train;

namespace {

dt::RunSpec asynchronous_run(int ranks)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.train.batch_per_rank = 4;
  spec.train.steps = 30;
  spec.train.eval_every_epochs = 0;
  spec.optimizer.name = "sgd";
  spec.sync.strategy = ranks > 1 ? "async-sgd" : "hogwild-sgd";
  spec.sync.servers = ranks > 1 ? 1 : 0;
  return spec;
}

// Requests something on one rank until it has it, and writes down what it is asked.
class Requesting : public Overseer {
 public:
  Requesting(bool requests, Request what) : requests_(requests), what_(what) {}
  Request request() override
  {
    ++asked;
    return requests_ && checkpoints.empty() ? what_ : Request{};
  }
  void checkpoint(const TrainingProgress& progress, const Snapshot& snapshot, const Request& /*agreed*/) override
  {
    snapshot.save(nullptr);
    checkpoints.push_back(static_cast<double>(progress.step));
  }
  bool is_cancelled() override { return cancelled; }
  bool cancelled = false; // later than its request
  int asked = 0;
  std::vector<double> checkpoints;

 private:
  bool requests_;
  Request what_;
};

// Equal on all ranks?
bool agree(double value, comm::Communicator& comm) { return comm.all_equal(std::to_string(value)); }

} // namespace

TEST_CASE("asynchronous ranks write a checkpoint after the same step, a look after it was asked for, and only once")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainer trainer({asynchronous_run(comm.size()), {}}, comm);
  Observer nobody;
  Requesting overseer(comm.is_root(), {.checkpoint = true});
  REQUIRE(trainer.run(nobody, overseer));
  REQUIRE(overseer.checkpoints.size() == 1);
  CHECK(overseer.checkpoints[0] == 2); // asked for after step 1, the first look
  CHECK(agree(overseer.checkpoints[0], comm));
}

TEST_CASE("asynchronous ranks stop after the same step when one of them, a server too, was told to")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainer trainer({asynchronous_run(comm.size()), {}}, comm);
  Observer nobody;
  Requesting overseer(comm.rank() == comm.size() - 1, {.preemption = true});
  CHECK_FALSE(trainer.run(nobody, overseer));
  CHECK(trainer.stopped_by().preemption);
  CHECK(trainer.steps_done() == 2);
  CHECK(overseer.checkpoints == std::vector<double>{2});
  CHECK(agree(overseer.asked, comm));
}

TEST_CASE("a cancelling that rank 0 hears of after another rank's signal is one all the same")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto strategy = GENERATE(as<std::string>{}, "", "sync-sgd");
  auto spec = asynchronous_run(comm.size());
  if (!strategy.empty()) {
    spec.sync.strategy = strategy;
    spec.sync.servers = {};
  }
  Trainer trainer({spec, {}}, comm);
  Observer nobody;
  Requesting overseer(comm.rank() == comm.size() - 1, {.time_limit = true});
  overseer.cancelled = comm.is_root();
  CHECK_FALSE(trainer.run(nobody, overseer));
  CHECK(trainer.stopped_by().cancel);
  CHECK(overseer.checkpoints.empty());
}
