// Whole trainings of ranks that share one copy of the weights, beside ranks with their own. Started by mpirun with several counts
// of ranks.
#include "core/error.hpp"
#include "engine/train/loop/trainer.hpp"

#include <bit>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::train;

namespace {

RunSpec spec_of(const std::string& optimizer, std::int64_t ranks)
{
  RunSpec spec;
  spec.model.name = "lenet";
  spec.data.name = "synthetic";
  spec.data.train_samples = 250;
  spec.data.test_samples = 60;
  spec.train.algorithms = AlgorithmChoice::rules; // timing may choose others in the second training, which round otherwise
  spec.train.global_batch = 24 / ranks * ranks;
  spec.train.steps = 12;
  spec.train.warmup_steps = 2;
  spec.train.eval_every_epochs = 0.5;
  spec.optimizer.name = optimizer;
  spec.optimizer.learning_rate = 0.01;
  spec.optimizer.weight_decay = 0.001;
  spec.optimizer.schedule = "cosine";
  spec.resources.ranks_per_node = ranks;
  spec.sync.strategy = "sync-sgd";
  spec.sync.progress = ProgressMode::none;
  return spec;
}

struct Losses : Observer {
  void step(const StepEvent& event) override { bits.push_back(std::bit_cast<std::uint64_t>(event.loss.value())); }
  std::vector<std::uint64_t> bits;
};

struct Outcome {
  std::vector<std::uint64_t> losses;
  RunResult result;
  std::string weights; // the fact of the record
};

Outcome outcome_of(RunSpec spec, const std::string& allreduce, comm::Communicator& comm)
{
  spec.sync.allreduce = allreduce;
  Losses losses;
  Overseer nobody;
  Trainer trainer({spec, {}}, comm);
  const auto result = trainer.run(losses, nobody).value();
  const auto fact = result.facts.find("weights");
  return {losses.bits, result, fact == result.facts.end() ? "" : fact->second};
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
    const auto shared = outcome_of(spec, "hierarchical", comm);
    CHECK(shared.weights.starts_with("one copy on the node") == (comm.size() > 1 && optimizer != "lars"));
    // With a communication thread each rank keeps its weights; the sums are the same.
    auto beside = spec;
    beside.sync.progress = ProgressMode::thread;
    beside.sync.bucket_bytes = 1 << 30;
    beside.resources.oversubscribe = true;
    const auto own = outcome_of(beside, "hierarchical", comm);
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
  spec.resources.oversubscribe = true;
  const auto shared = outcome_of(spec, "hierarchical", comm);
  spec.sync.progress = ProgressMode::thread;
  spec.sync.bucket_bytes = 1 << 30;
  check_equal(shared, outcome_of(spec, "hierarchical", comm));
}
