// Whole trainings of ranks that share one copy of the weights, beside ranks with their own. Started by mpirun with several counts
// of ranks.
#include "engine/train/loop/trainer.hpp"
#include "tests/support/engine_run.hpp"

#include <bit>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::train;

namespace {

RunSpec spec_of(const std::string& optimizer, std::int64_t ranks)
{
  auto spec = test::small_lenet(ranks, 250);
  spec.train.global_batch = 24 / ranks * ranks;
  spec.train.steps = 12;
  spec.train.warmup_steps = 2;
  spec.train.eval_every_epochs = 0.5;
  spec.optimizer = {.name = optimizer, .learning_rate = 0.01, .weight_decay = 0.001, .schedule = "cosine"};
  spec.sync = {.strategy = "sync-sgd", .allreduce = "hierarchical", .progress = ProgressMode::none};
  return spec;
}

struct Outcome : Observer {
  void step(const StepEvent& event) override { losses.push_back(std::bit_cast<std::uint64_t>(event.loss.value())); }
  std::vector<std::uint64_t> losses;
  RunResult result;
  std::string weights; // the fact of the record
};

Outcome outcome_of(const RunSpec& spec, comm::Communicator& comm)
{
  Outcome outcome;
  Overseer nobody;
  Trainer trainer({spec, {}}, comm);
  outcome.result = trainer.run(outcome, nobody).value();
  if (const auto fact = outcome.result.facts.find("weights"); fact != outcome.result.facts.end()) outcome.weights = fact->second;
  return outcome;
}

// Of the same training with a communication thread, with which each rank keeps its weights; the sums are the same.
Outcome outcome_of_own(RunSpec spec, comm::Communicator& comm)
{
  spec.sync.progress = ProgressMode::thread;
  spec.sync.bucket_bytes = 1 << 30;
  return outcome_of(spec, comm);
}

void check_equal(const Outcome& one, const Outcome& other)
{
  CHECK(one.losses == other.losses);
  CHECK(one.result.weights_hash == other.result.weights_hash);
  CHECK(one.result.best_accuracy == other.result.best_accuracy);
  CHECK(one.result.eval_loss == other.result.eval_loss);
}

} // namespace

TEST_CASE("trainings with one copy of the weights end in the bits of trainings with one for each rank, for every optimizer")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string optimizer : {"sgd", "momentum", "nesterov", "adam", "adamw", "lars"}) {
    CAPTURE(optimizer);
    const auto spec = spec_of(optimizer, comm.size());
    const auto shared = outcome_of(spec, comm), own = outcome_of_own(spec, comm);
    CHECK(shared.weights.empty() == (comm.size() == 1 || optimizer == "lars"));
    CHECK(own.weights.empty());
    check_equal(shared, own);
  }
}

TEST_CASE("micro-batches, a scaled loss and several threads do not change the bits of a shared copy")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = spec_of("momentum", comm.size());
  spec.train.accumulation = 2;
  spec.train.loss_scale = 1024;
  spec.resources.threads_per_rank = 2;
  const auto shared = outcome_of(spec, comm);
  CHECK(shared.weights.empty() == (comm.size() == 1));
  check_equal(shared, outcome_of_own(spec, comm));
}
