// sync-easgd, decentralized-easgd, local-sgd and hsgd against their papers' numbers and against all workers simulated in one
// program. Started by mpirun with several counts of ranks.
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

// All workers in one program, one after another, by the words of the papers.
struct Simulated {
  std::vector<ManyTensors> workers;
  std::vector<float> centre;

  explicit Simulated(int ranks)
  {
    for (int r = 0; r < ranks; ++r) workers.emplace_back(r, 0.5F);
    centre = copy_of(workers[0].weights());
  }
  void begin(int step)
  {
    for (auto& worker : workers) worker.number = step;
  }
  // W^i <- W^i - a (W^i - Wc); Wc <- Wc + a sum_i (W^i - Wc), all with the weights from before.
  void pull(float alpha)
  {
    for (std::size_t i = 0; i < centre.size(); ++i) {
      float differences = 0;
      for (auto& worker : workers) {
        const float difference = alpha * (worker.weights()[i] - centre[i]);
        differences += difference;
        worker.weights()[i] -= difference;
      }
      centre[i] += differences;
    }
  }
  void elastic_step(int step, float alpha, std::int64_t period, bool after)
  {
    begin(step);
    for (auto& worker : workers) worker.compute();
    if (after)
      for (auto& worker : workers) worker.update();
    if (step % period == 0) pull(alpha);
    if (!after)
      for (auto& worker : workers) worker.update();
  }
  // The weights of those workers become their mean.
  void average(std::size_t first, std::size_t end)
  {
    for (std::size_t i = 0; i < centre.size(); ++i) {
      float sum = 0;
      for (auto w = first; w < end; ++w) sum += workers[w].weights()[i];
      for (auto w = first; w < end; ++w) workers[w].weights()[i] = sum / static_cast<float>(end - first);
    }
  }
  // Those workers step along the mean of their gradients.
  void together(std::size_t first, std::size_t end)
  {
    for (auto w = first; w < end; ++w) workers[w].compute();
    for (std::size_t i = 0; i < centre.size(); ++i) {
      float sum = 0;
      for (auto w = first; w < end; ++w) sum += workers[w].gradients()[i];
      for (auto w = first; w < end; ++w) workers[w].gradients()[i] = sum / static_cast<float>(end - first);
    }
    for (auto w = first; w < end; ++w) workers[w].update();
  }
};

constexpr double rounding = 2e-5; // of weights up to about 10, over a few steps

dt::SyncSpec elastic(const std::string& strategy, std::int64_t period = 1, dt::ElasticForm form = dt::ElasticForm::paper)
{
  return {.strategy = strategy, .allreduce = "ring", .period = period, .alpha = 0.2, .elastic = form, .overlap = 2};
}

dt::SyncSpec form(std::int64_t overlap, dt::ProgressMode progress, bool pack = true)
{
  auto sync = elastic("sync-easgd", 2);
  sync.overlap = overlap;
  sync.progress = progress;
  sync.pack = pack;
  return sync;
}

} // namespace

TEST_CASE("EASGD's golden step: W = (1, 3), centre 0, g = (1, -1), eta 0.1, rho 1 give W = (0.8, 2.8), centre 0.4")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 2) return;
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"})
    for (const std::int64_t overlap : {1, 2, 3}) {
      auto sync = elastic(strategy, 1, dt::ElasticForm::before);
      sync.alpha = 0;
      sync.rho = 1;
      sync.overlap = overlap;
      LinearReplica replica(0, comm.rank() == 0 ? 1.0F : -1.0F, {1, 1}, 0.1);
      const auto own = make(sync, comm);
      Diary diary;
      own->start(replica);
      std::ranges::fill(replica.weights(), comm.rank() == 0 ? 1.0F : 3.0F);
      own->step(replica, diary);
      std::vector<float> centre(100);
      own->read_centre(replica, centre);
      CAPTURE(strategy, overlap);
      for (const std::size_t i : {0, 99}) {
        CHECK(replica.weights()[i] == Approx(comm.rank() == 0 ? 0.8 : 2.8));
        CHECK(centre[i] == Approx(0.4));
      }
    }
}

TEST_CASE("elastic strategies follow their equations, simulated for all workers in one program")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"})
    for (const std::int64_t period : {1, 3})
      for (const auto elastic_form : {dt::ElasticForm::paper, dt::ElasticForm::before, dt::ElasticForm::after}) {
        CAPTURE(strategy, period, name_of(elastic_form));
        const bool after = elastic_form == dt::ElasticForm::after ||
                           (elastic_form == dt::ElasticForm::paper && strategy == "decentralized-easgd");
        Simulated simulated(comm.size());
        for (int step = 1; step <= 7; ++step) simulated.elastic_step(step, 0.2F, period, after);
        const auto outcome = train(elastic(strategy, period, elastic_form), 7);
        CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
        CHECK(distance(outcome.centre, simulated.centre) < rounding);
        CHECK(is_equal_on_all(outcome.centre, comm));
      }
}

TEST_CASE("local SGD averages weights every period, and starts with sync-sgd")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (const std::int64_t period : {1, 3})
    for (const double local_start : {0.0, 0.75}) { // epochs of 4 steps: 3 steps of sync-sgd
      Simulated simulated(comm.size());
      for (int step = 1; step <= 7; ++step) {
        simulated.begin(step);
        if ((step - 1) / 4.0 < local_start) {
          simulated.together(0, ranks);
          continue;
        }
        for (auto& worker : simulated.workers) {
          worker.compute();
          worker.update();
        }
        if (step % period == 0) simulated.average(0, ranks);
      }
      const auto outcome = train({.strategy = "local-sgd", .allreduce = "ring", .period = period, .local_start = local_start}, 7);
      CAPTURE(period, local_start);
      CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
    }
}

TEST_CASE("hsgd is sync-sgd, to the bit with the same allreduce")
{
  const auto hsgd = train({.strategy = "hsgd", .allreduce = "mpi"}, 7);
  const auto same = train({.strategy = "sync-sgd", .allreduce = "hierarchical"}, 7);
  CHECK(hsgd.weights == same.weights);
  CHECK(hsgd.losses == same.losses);
  const auto ring = train({.strategy = "sync-sgd", .allreduce = "ring"}, 7);
  CHECK(distance(hsgd.weights, ring.weights) < rounding);
  for (const auto progress : {dt::ProgressMode::poll, dt::ProgressMode::thread})
    CHECK(distance(train({.strategy = "hsgd", .allreduce = "mpi", .bucket_bytes = 2048, .progress = progress}, 7).weights,
                   ring.weights) < rounding);
}

TEST_CASE("hsgd with a node period averages gradients inside a node at every step, and weights over the nodes at every period")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 3) return;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::vector<int> nodes =
      ranks == 3 ? std::vector<int>{0, 0, 1} : std::vector<int>{0, 0, 1, 1}; // as if there were two hosts
  Simulated simulated(comm.size());
  for (int step = 1; step <= 7; ++step) {
    simulated.begin(step);
    simulated.together(0, 2);
    simulated.together(2, ranks);
    if (step % 3 == 0) simulated.average(0, ranks);
  }
  const auto outcome = train({.strategy = "hsgd", .allreduce = "mpi", .node_period = 3}, 7, {.nodes = nodes});
  CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
}

TEST_CASE("with an elastic rate of zero the workers are independent, to the bit")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors alone(comm.rank(), 0.5F);
  for (alone.number = 1; alone.number <= 7; ++alone.number) {
    alone.compute();
    alone.update();
  }
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"}) {
    auto sync = elastic(strategy);
    sync.alpha = 0;
    CHECK(train(sync, 7).weights == copy_of(alone.weights()));
  }
}

TEST_CASE("the three forms of sync-easgd give the same trajectory, packed or not, whoever moves messages on")
{
  // A ring's order of adding depends on where a number lies in a message; a tree's, which form 1 has too, does not.
  auto by_tree = [](dt::SyncSpec sync) {
    sync.allreduce = "tree";
    return sync;
  };
  const auto tree = train(by_tree(form(2, dt::ProgressMode::none)), 7), ring = train(form(2, dt::ProgressMode::none), 7);
  CHECK(distance(ring.weights, tree.weights) < rounding);
  CHECK(distance(ring.centre, tree.centre) < rounding);
  for (const auto progress : {dt::ProgressMode::none, dt::ProgressMode::poll, dt::ProgressMode::thread})
    for (const std::int64_t overlap : {1, 2, 3})
      for (const bool pack : {true, false}) {
        CAPTURE(name_of(progress), overlap, pack);
        const auto outcome = train(by_tree(form(overlap, progress, pack)), 7);
        CHECK(outcome.weights == tree.weights);
        CHECK(outcome.centre == tree.centre);
        if (!pack || overlap == 1) continue;
        const auto in_ring = train(form(overlap, progress, pack), 7);
        CHECK(in_ring.weights == ring.weights);
        CHECK(in_ring.centre == ring.centre);
      }
}

TEST_CASE("an exchange of sync-easgd sends every other rank's weights once and the centre to every other rank once")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(0);
  const auto n = static_cast<double>(replica.weights().size_bytes());
  const auto tensors = static_cast<double>(replica.tensors().size());
  const int steps = 7, exchanges = 3; // every second step
  for (const bool pack : {true, false}) {
    for (const std::int64_t overlap : {1, 2, 3}) { // the other forms' allreduce has as many bytes, in other messages
      const auto outcome = train(form(overlap, dt::ProgressMode::none, pack), steps);
      std::array sums{static_cast<double>(outcome.traffic.bytes), static_cast<double>(outcome.traffic.messages)};
      comm.sum_record(sums);
      CAPTURE(overlap, pack);
      CHECK(sums[0] == exchanges * 2 * (comm.size() - 1) * n);
      if (overlap == 1) CHECK(sums[1] == exchanges * 2 * (comm.size() - 1) * (pack ? 1 : tensors));
    }
  }
}

TEST_CASE("decentralized EASGD and local SGD send one allreduce a period, and nothing between")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  std::vector<float> buffer(ManyTensors(0).weights().size());
  for (const std::string allreduce : {"ring", "halving-doubling", "tree", "mpi", "gloo"}) {
    if (allreduce == "gloo" && !comm::has_gloo()) continue;
    comm.traffic() = {};
    comm::make_allreduce({.algorithm = allreduce}, comm)->sum(buffer);
    const comm::Traffic once = comm.traffic();
    for (const std::string strategy : {"decentralized-easgd", "local-sgd"}) {
      auto sync = elastic(strategy, 3);
      sync.allreduce = allreduce;
      if (strategy == "local-sgd" && comm.size() == 1) continue;
      const auto outcome = train(sync, 8); // two exchanges
      CHECK(outcome.traffic.bytes == 2 * once.bytes);
      CHECK(outcome.traffic.messages == 2 * once.messages);
      sync.pack = false;
      if (allreduce == "mpi" && comm.size() > 1) CHECK(train(sync, 8).traffic.messages == 2 * 12);
    }
  }
}

TEST_CASE("a run that is taken up in the middle of a period goes on bit for bit")
{
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd", "local-sgd", "sync-sgd", "hsgd"})
    for (const std::int64_t overlap : {1, 3}) {
      auto sync = elastic(strategy, 3);
      sync.overlap = overlap;
      const auto whole = train(sync, 9), pieces = train_in_two(sync, 4, 9);
      CAPTURE(strategy, overlap);
      CHECK(pieces.weights == whole.weights);
      CHECK(pieces.centre == whole.centre);
    }
}

TEST_CASE("what a strategy cannot do is refused with what to take instead")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto beside = elastic("sync-easgd", 1, dt::ElasticForm::after);
  beside.overlap = 3;
  CHECK_THROWS_WITH(make(beside, comm), Catch::Contains("sync.elastic: before"));
  CHECK_THROWS_WITH(make({.strategy = "local-sgd", .allreduce = "ring", .wire = dt::Wire::bfloat16}, comm),
                    Catch::Contains("sync.wire"));
}
