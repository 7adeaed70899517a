// The gradient noise scale that strategies measure beside their sums. Started by mpirun with several counts of ranks.
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

struct Measured {
  NoiseScale noise;
  std::vector<float> weights;
  std::int64_t messages = 0;
};

Measured train_measured(const SyncSpec& sync, std::int64_t every, bool padding, bool shares_memory, std::int64_t steps)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank(), 0.5F, padding);
  std::unique_ptr<comm::SharedVectors> memory;
  if (shares_memory) {
    memory = std::make_unique<comm::SharedVectors>(comm, comm::SharedVectors::Shape{replica.weights().size(), 2});
    replica.live_in(*memory);
    comm.barrier();
  }
  RunSpec spec;
  spec.sync = sync;
  spec.train.noise_scale = every;
  spec.resources.oversubscribe = true;
  auto parts = make_parts(spec, comm, {});
  parts.node_slices = replica.node_slices();
  const auto strategy = make_strategy(parts);
  strategy->start(replica);
  Diary diary;
  comm.traffic() = {};
  for (; replica.number <= steps; ++replica.number) strategy->step(replica, diary);
  const auto noise = strategy->noise() != nullptr ? strategy->noise()->noise_scale() : NoiseScale();
  const Measured measured{noise, copy_of(replica.weights()), comm.traffic().messages};
  comm.barrier();
  return measured;
}

// Of the first step, from the gradients of all ranks.
double noise_scale_of_first_step(int ranks, bool padding)
{
  std::vector<double> sum;
  double own = 0, square = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    ManyTensors replica(rank, 0, padding);
    replica.compute();
    const auto gradients = replica.gradients();
    sum.resize(gradients.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double gradient = gradients[i];
      own += gradient * gradient / ranks;
      sum[i] += gradient / ranks;
    }
  }
  for (const double mean : sum) square += mean * mean;
  NoiseScaleEstimator estimator(1, ranks);
  estimator.add(own, square);
  return estimator.estimate().value;
}

} // namespace

TEST_CASE("the noise scale is that of all ranks' gradients, however they are summed, and costs no message and no bit of a weight")
{
  const int ranks = comm::Communicator(MPI_COMM_WORLD).size();
  struct Row {
    const char* allreduce;
    ProgressMode progress;
    bool padding, shares_memory;
  };
  for (const auto& [allreduce, progress, padding, shares] :
       {Row{"ring", ProgressMode::none, true, false}, Row{"ring", ProgressMode::poll, true, false},
        Row{"tree", ProgressMode::thread, true, false}, Row{"ring", ProgressMode::none, false, false},
        Row{"hierarchical", ProgressMode::none, true, true}}) {
    if (shares && ranks == 1) continue;
    CAPTURE(allreduce, name_of(progress), padding, shares);
    const SyncSpec sync{.strategy = "sync-sgd", .allreduce = allreduce, .bucket_bytes = 2048, .progress = progress};
    const auto first = train_measured(sync, 1, padding, shares, 1);
    if (ranks == 1)
      CHECK(std::isnan(first.noise.value));
    else
      CHECK(first.noise.value == Approx(noise_scale_of_first_step(ranks, padding)).epsilon(1e-5));
    const auto with = train_measured(sync, 2, padding, shares, 9), without = train_measured(sync, 0, padding, shares, 9);
    CHECK(with.weights == without.weights);
    CHECK(with.messages == without.messages);
    CHECK(std::isnan(without.noise.value));
    CHECK((ranks == 1 || !std::isnan(with.noise.value)));
  }
}

TEST_CASE("strategies that do not sum gradients in every step have no noise scale")
{
  for (const auto* strategy : {"local-sgd", "sync-easgd"})
    CHECK(std::isnan(train_measured({.strategy = strategy, .allreduce = "ring", .period = 2}, 1, true, false, 4).noise.value));
}
