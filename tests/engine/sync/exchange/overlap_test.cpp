// Sums beside the backward pass: the same numbers, whoever moves them on. Started by mpirun with several counts of ranks.
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/comm/choice/dynamic.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

constexpr int steps = 5;

dt::SyncSpec sync_sgd(dt::ProgressMode progress, const std::string& allreduce, bool pack, std::int64_t bucket_bytes = 1 << 20)
{
  return {.strategy = "sync-sgd", .allreduce = allreduce, .pack = pack, .bucket_bytes = bucket_bytes, .progress = progress};
}

} // namespace

TEST_CASE("none, poll and thread give the same bits for the same buckets, on all ranks")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string allreduce : {"mpi", "ring", "halving-doubling", "tree", "gloo"}) {
    if (allreduce == "gloo" && !comm::has_gloo()) continue;
    CAPTURE(allreduce);
    for (const bool pack : {false, true}) { // a tensor each; one bucket for all in every mode
      const auto none = train(sync_sgd(ProgressMode::none, allreduce, pack), steps);
      CHECK((allreduce == "mpi" || is_equal_on_all(none.weights, comm)));
      CHECK(comm.all_equal(std::to_string(none.losses.back())));
      for (const float weight : none.weights) REQUIRE(weight == weight); // no gradient was sent before it was there
      for (const auto progress : {ProgressMode::poll, ProgressMode::thread}) {
        CAPTURE(name_of(progress), pack);
        const auto overlapped = train(sync_sgd(progress, allreduce, pack), steps);
        CHECK(overlapped.weights == none.weights);
        CHECK(overlapped.losses == none.losses);
        CHECK(overlapped.traffic.bytes == none.traffic.bytes);
        CHECK(overlapped.traffic.messages == none.traffic.messages);
      }
    }
    const auto small = train(sync_sgd(ProgressMode::poll, allreduce, true, 2048), steps);
    CHECK(train(sync_sgd(ProgressMode::thread, allreduce, true, 2048), steps).weights == small.weights);
    CHECK((allreduce == "mpi" || is_equal_on_all(small.weights, comm)));
    CHECK(comm.all_equal(std::to_string(small.losses.back())));
  }
}

TEST_CASE("dynamic changes its choice in the midst of training, on all ranks alike, whoever moves messages on")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const comm::AllreduceTimings timings{
      .algorithms = {"mpi", "ring", "tree"}, .bytes = {1000, 4000}, .seconds = {{2, 1, 4}, {2, 1, 4}}};
  const auto seen = [](const std::string& algorithm, std::size_t, double) {
    return algorithm == "mpi" ? 2.0 : algorithm == "tree" ? 4.0 : 9.0;
  };
  for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
    CAPTURE(name_of(progress));
    dt::RunSpec spec;
    spec.sync = sync_sgd(progress, "dynamic", true, 2048);
    spec.resources.oversubscribe = true;
    const auto parts = make_parts(spec, comm, {});
    comm::DynamicAllreduce allreduce(timings, {.topology = parts.topology, .seen_s = seen}, comm);
    GradientSums sums(parts, allreduce);
    ManyTensors replica(comm.rank(), 0.5F);
    Diary diary;
    const auto train_to = [&](std::size_t step) {
      for (; static_cast<std::size_t>(replica.number) <= step; ++replica.number)
        sums.update(sums.compute(replica, diary), replica, diary);
    };
    train_to(comm::ChoiceWatch::steps_a_look);
    CHECK(allreduce.choice().starts_with("ring;"));
    // With poll a sum that is complete before anybody waits for it takes no time.
    train_to(comm::ChoiceWatch::steps_a_look + 3 * comm::ChoiceWatch::rounds);
    if (progress != ProgressMode::poll) CHECK(allreduce.choice().starts_with("mpi;"));
    CHECK(comm.all_equal(allreduce.choice()));
    train_to(100);
    CHECK(is_equal_on_all(replica.weights(), comm));
    for (const float weight : replica.weights()) REQUIRE(weight == weight);
    CHECK(sums.facts().front().first == "allreduce");
  }
}

TEST_CASE("the mean loss over all samples is right with padding to carry it and without")
{
  const int ranks = comm::Communicator(MPI_COMM_WORLD).size();
  for (const bool padding : {true, false})
    for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
      const auto losses = train(sync_sgd(progress, "mpi", true, 2048), steps, {.padding = padding}).losses;
      for (int step = 1; step <= steps; ++step) {
        double sum = 0, samples = 0;
        for (int r = 0; r < ranks; ++r) {
          sum += (r + step / 8.0) * (r + 1);
          samples += r + 1;
        }
        CAPTURE(padding, name_of(progress));
        CHECK(losses[static_cast<std::size_t>(step - 1)] == Approx(sum / samples).epsilon(1e-6));
      }
    }
}

TEST_CASE("padding stays zero although the loss travels in it")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank());
  const auto strategy = make(sync_sgd(ProgressMode::none, "ring", true), comm);
  Diary diary;
  strategy->start(replica);
  strategy->step(replica, diary);
  const auto tensors = replica.tensors();
  for (std::size_t t = 0; t + 1 < tensors.size(); ++t)
    for (auto i = tensors[t].end; i < tensors[t + 1].begin; ++i) {
      REQUIRE(replica.weights()[i] == 0);
      REQUIRE(replica.gradients()[i] == 0);
    }
}

TEST_CASE("ranks of one step equal one rank that has all their gradients")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  // Every rank's gradients in turn, in one program.
  std::vector<ManyTensors> workers;
  for (int r = 0; r < comm.size(); ++r) workers.emplace_back(r, 0.5F);
  for (int step = 1; step <= steps; ++step) {
    std::vector<float> sum(workers[0].weights().size());
    for (auto& worker : workers) {
      worker.number = step;
      worker.compute();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += worker.gradients()[i];
    }
    for (auto& worker : workers) {
      std::copy(sum.begin(), sum.end(), worker.gradients().begin());
      worker.update({0, sum.size()}, 1.0F / static_cast<float>(comm.size()));
    }
  }
  for (const std::string allreduce : {"ring", "gloo"})
    for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
      if (allreduce == "gloo" && !comm::has_gloo()) continue;
      const auto weights = train(sync_sgd(progress, allreduce, true, 2048), steps).weights;
      CHECK(distance(weights, workers[0].weights()) < 1e-5); // the sums run in another order
    }
}

TEST_CASE("a communication thread without a core to spare is refused, unless oversubscription is allowed")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  dt::RunSpec spec;
  spec.sync = sync_sgd(ProgressMode::thread, "ring", true);
  spec.resources.threads_per_rank = 10000;
  if (comm.size() == 1) return; // nothing to send, no thread
  CHECK_THROWS_WITH(make_strategy(make_parts(spec, comm, {})), Catch::StartsWith("sync.progress: thread needs one core more"));
  spec.resources.oversubscribe = true;
  const auto facts = make_strategy(make_parts(spec, comm, {}))->facts();
  CHECK(facts.back() == std::pair<std::string, std::string>{"communication thread", "shares cores with the compute threads"});
}

TEST_CASE("buckets record what is summed and when it was ready, earlier ones first, after the warm-up only")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto progress : {ProgressMode::none, ProgressMode::poll}) {
    CAPTURE(name_of(progress));
    ManyTensors replica(comm.rank(), 0.5F);
    const auto strategy = make(sync_sgd(progress, "ring", true, 2048), comm);
    Diary diary;
    strategy->start(replica);
    CHECK(strategy->buckets().empty());
    strategy->step(replica, diary);
    strategy->begin_measuring();
    CHECK(strategy->buckets().empty());
    for (int step = 0; step < 3; ++step) strategy->step(replica, diary);
    const auto buckets = strategy->buckets();
    CHECK((buckets.size() == 1) == (progress == ProgressMode::none));
    std::int64_t bytes = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      bytes += buckets[b].bytes;
      CHECK(buckets[b].ready_s > 0);
      CHECK(buckets[b].lead_s >= 0);
      CHECK(buckets[b].ready_s + buckets[b].lead_s == Approx(buckets[0].ready_s + buckets[0].lead_s));
      if (b > 0) CHECK(buckets[b].lead_s <= buckets[b - 1].lead_s);
    }
    CHECK(bytes == static_cast<std::int64_t>(replica.gradients().size() * sizeof(float)));
    CHECK(buckets.back().lead_s == Approx(0).margin(1e-12)); // the last one carries the loss
  }
}
