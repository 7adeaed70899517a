// Sums beside the backward pass: the same numbers, whoever moves them on. Started by mpirun with several counts of ranks.
#include "core/error.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/comm/choice/dynamic.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "tests/engine/sync/many_tensors.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

constexpr int steps = 5;

struct Outcome {
  std::vector<float> weights;
  std::vector<double> losses;
  comm::Traffic traffic;
};

std::unique_ptr<Strategy> make_oversubscribed(const dt::SyncSpec& sync, comm::Communicator& comm)
{
  dt::RunSpec spec;
  spec.sync = sync;
  spec.resources.oversubscribe = true;
  return make_strategy(make_parts(spec, comm, {}));
}

Outcome train(const dt::SyncSpec& sync, bool padding = true)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank(), 0.5F, padding);
  const auto strategy = make_oversubscribed(sync, comm);
  Diary diary;
  strategy->start(replica);
  comm.traffic() = {};
  Outcome outcome;
  for (replica.number = 1; replica.number <= steps; ++replica.number) outcome.losses.push_back(strategy->step(replica, diary));
  outcome.weights.assign(replica.weights().begin(), replica.weights().end());
  outcome.traffic = comm.traffic();
  return outcome;
}

dt::SyncSpec sync_sgd(dt::ProgressMode progress, const std::string& allreduce, bool pack, std::int64_t bucket_bytes = 1 << 20)
{
  return {.strategy = "sync-sgd", .allreduce = allreduce, .pack = pack, .bucket_bytes = bucket_bytes, .progress = progress};
}

} // namespace

TEST_CASE("none, poll and thread give the same bits for the same buckets")
{
  for (const std::string allreduce : {"mpi", "ring", "halving-doubling", "tree", "gloo"}) {
    if (allreduce == "gloo" && !comm::has_gloo()) continue;
    CAPTURE(allreduce);
    for (const bool pack : {false, true}) { // a tensor each; one bucket for all in every mode
      const auto none = train(sync_sgd(ProgressMode::none, allreduce, pack));
      for (const auto progress : {ProgressMode::poll, ProgressMode::thread}) {
        CAPTURE(name_of(progress), pack);
        const auto overlapped = train(sync_sgd(progress, allreduce, pack));
        CHECK(overlapped.weights == none.weights);
        CHECK(overlapped.losses == none.losses);
        CHECK(overlapped.traffic.bytes == none.traffic.bytes);
        CHECK(overlapped.traffic.messages == none.traffic.messages);
      }
    }
    CHECK(train(sync_sgd(ProgressMode::thread, allreduce, true, 2048)).weights ==
          train(sync_sgd(ProgressMode::poll, allreduce, true, 2048)).weights);
  }
}

TEST_CASE("all ranks have the same bits and the same loss, whoever moves messages on")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [allreduce, progress] : {std::pair{"ring", ProgressMode::none},
                                            {"ring", ProgressMode::poll},
                                            {"ring", ProgressMode::thread},
                                            {"gloo", ProgressMode::none},
                                            {"gloo", ProgressMode::thread}}) {
    if (std::string(allreduce) == "gloo" && !comm::has_gloo()) continue;
    CAPTURE(allreduce, name_of(progress));
    const auto outcome = train(sync_sgd(progress, allreduce, true, 2048));
    std::string bits(reinterpret_cast<const char*>(outcome.weights.data()), outcome.weights.size() * sizeof(float));
    CHECK(comm.all_equal(bits));
    CHECK(comm.all_equal(std::to_string(outcome.losses.back())));
    for (const float weight : outcome.weights) REQUIRE(weight == weight); // no gradient was sent before it was there
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
    const auto weights = replica.weights();
    CHECK(comm.all_equal({reinterpret_cast<const char*>(weights.data()), weights.size_bytes()}));
    for (const float weight : weights) REQUIRE(weight == weight);
    CHECK(sums.facts().front().first == "allreduce");
  }
}

TEST_CASE("the mean loss over all samples is right with padding to carry it and without")
{
  const int ranks = comm::Communicator(MPI_COMM_WORLD).size();
  for (const bool padding : {true, false})
    for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
      const auto losses = train(sync_sgd(progress, "mpi", true, 2048), padding).losses;
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
  const auto strategy = make_oversubscribed(sync_sgd(ProgressMode::none, "ring", true), comm);
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
  for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread}) {
    const auto weights = train(sync_sgd(progress, "ring", true, 2048)).weights;
    double worst = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(weights[i] - workers[0].weights()[i])));
    CHECK(worst < 1e-5); // the sums run in another order
  }
}

TEST_CASE("isolated communication is measured and not counted")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank());
  const std::vector<float> before(replica.weights().begin(), replica.weights().end());
  const auto strategy = make_oversubscribed(sync_sgd(ProgressMode::thread, "ring", true, 2048), comm);
  CHECK(strategy->isolated_communication_s(replica) >= 0);
  CHECK(comm.traffic().bytes == 0);
  CHECK(std::equal(before.begin(), before.end(), replica.weights().begin()));
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
    const auto strategy = make_oversubscribed(sync_sgd(progress, "ring", true, 2048), comm);
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
