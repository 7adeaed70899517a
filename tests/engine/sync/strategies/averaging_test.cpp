// sync-easgd, decentralized-easgd, local-sgd and hsgd against their papers' numbers and against all workers simulated in one
// program. Started by mpirun with several counts of ranks.
#include "core/error.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "tests/engine/sync/many_tensors.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

// One tensor of 20 equal weights, a gradient and a learning rate that are given; plain SGD.
class Chosen : public Replica {
 public:
  Chosen(float start, float slope, double rate) : weights_(20, start), gradients_(20), slope_(slope), rate_(rate) {}
  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  BatchLoss compute(GradientListener* listener) override
  {
    std::fill(gradients_.begin(), gradients_.end(), slope_);
    if (listener != nullptr) listener->gradients_ready(tensors_[0]);
    return {1, 1};
  }
  using Replica::update;
  void update(Range range, float factor) override { apply(range, weights_, gradients_, rate_ * factor); }
  void apply(Range range, std::span<float> w, std::span<const float> g, double rate) override
  {
    for (auto i = range.begin; i < range.end; ++i) w[i] -= static_cast<float>(rate) * g[i];
  }
  Step step() const override { return {number, rate_, 0}; }
  std::int64_t number = 1;

 private:
  static constexpr std::array<Range, 1> tensors_{Range{0, 20}};
  std::vector<float> weights_, gradients_;
  float slope_;
  double rate_;
};

std::unique_ptr<Strategy> make_with(const dt::SyncSpec& sync, comm::Communicator& comm, const std::vector<int>& nodes = {})
{
  dt::RunSpec spec;
  spec.sync = sync;
  spec.resources.oversubscribe = true;
  auto parts = make_parts(spec, comm, {});
  if (!nodes.empty()) parts.topology.node = nodes;
  return make_strategy(parts);
}

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

double distance(std::span<const float> one, std::span<const float> other)
{
  REQUIRE(one.size() == other.size());
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!std::isfinite(one[i])) return 1e9;
    worst = std::max(worst, std::abs(static_cast<double>(one[i] - other[i])));
  }
  return worst;
}

struct Outcome {
  std::vector<float> weights, centre;
  std::vector<double> losses;
  comm::Traffic traffic;
};

Outcome train(const dt::SyncSpec& sync, int steps = 7, const std::vector<int>& nodes = {})
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank(), 0.5F);
  const auto strategy = make_with(sync, comm, nodes);
  Diary diary;
  strategy->start(replica);
  comm.traffic() = {};
  Outcome outcome;
  for (replica.number = 1; replica.number <= steps; ++replica.number) outcome.losses.push_back(strategy->step(replica, diary));
  outcome.traffic = comm.traffic();
  outcome.weights = copy_of(replica.weights());
  if (strategy->has_centre()) {
    outcome.centre.resize(outcome.weights.size());
    strategy->read_centre(replica, outcome.centre);
  }
  CHECK(comm.traffic().bytes == outcome.traffic.bytes); // reading it is not counted
  return outcome;
}

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
      Chosen replica(0, comm.rank() == 0 ? 1.0F : -1.0F, 0.1);
      const auto own = make_with(sync, comm);
      Diary diary;
      own->start(replica);
      std::ranges::fill(replica.weights(), comm.rank() == 0 ? 1.0F : 3.0F);
      own->step(replica, diary);
      std::vector<float> centre(20);
      own->read_centre(replica, centre);
      CAPTURE(strategy, overlap);
      CHECK(replica.weights()[0] == Approx(comm.rank() == 0 ? 0.8 : 2.8));
      CHECK(replica.weights()[19] == Approx(comm.rank() == 0 ? 0.8 : 2.8));
      CHECK(centre[0] == Approx(0.4));
      CHECK(centre[19] == Approx(0.4));
    }
}

TEST_CASE("elastic averaging's golden step: lr 1, g = -1, tau 2, alpha 1 leave a worker at 0 and its centre at 2")
{
  comm::Communicator comm(MPI_COMM_SELF);
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"}) {
    auto sync = elastic(strategy, 2, dt::ElasticForm::after);
    sync.alpha = 1;
    Chosen replica(0, -1, 1);
    const auto own = make_with(sync, comm);
    Diary diary;
    own->start(replica);
    for (replica.number = 1; replica.number <= 2; ++replica.number) own->step(replica, diary);
    std::vector<float> centre(20);
    own->read_centre(replica, centre);
    CHECK(replica.weights()[7] == 0);
    CHECK(centre[7] == 2);
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
        const auto outcome = train(elastic(strategy, period, elastic_form));
        CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
        CHECK(distance(outcome.centre, simulated.centre) < rounding);
      }
}

TEST_CASE("rho makes the elastic rate follow the learning rate")
{
  auto by_rho = elastic("decentralized-easgd");
  by_rho.alpha = 0;
  by_rho.rho = 0.8; // the learning rate is 0.25
  CHECK(distance(train(by_rho).weights, train(elastic("decentralized-easgd")).weights) < rounding);
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
      const auto outcome = train({.strategy = "local-sgd", .allreduce = "ring", .period = period, .local_start = local_start});
      CAPTURE(period, local_start);
      CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
    }
}

TEST_CASE("hsgd is sync-sgd, to the bit with the same allreduce")
{
  const auto hsgd = train({.strategy = "hsgd", .allreduce = "mpi"});
  const auto same = train({.strategy = "sync-sgd", .allreduce = "hierarchical"});
  CHECK(hsgd.weights == same.weights);
  CHECK(hsgd.losses == same.losses);
  const auto ring = train({.strategy = "sync-sgd", .allreduce = "ring"});
  CHECK(distance(hsgd.weights, ring.weights) < rounding);
  for (const auto progress : {dt::ProgressMode::poll, dt::ProgressMode::thread})
    CHECK(distance(train({.strategy = "hsgd", .allreduce = "mpi", .bucket_bytes = 2048, .progress = progress}).weights,
                   ring.weights) < rounding);
}

TEST_CASE("sync-sgd over gloo ends where it ends over the ring, up to rounding")
{
  if (!dt::comm::has_gloo()) return;
  const auto ring = train({.strategy = "sync-sgd", .allreduce = "ring"});
  for (const auto progress : {dt::ProgressMode::none, dt::ProgressMode::thread}) {
    const auto gloo = train({.strategy = "sync-sgd", .allreduce = "gloo", .bucket_bytes = 2048, .progress = progress});
    CHECK(distance(gloo.weights, ring.weights) < rounding);
    CHECK(gloo.losses.back() == Approx(ring.losses.back()).epsilon(1e-5));
  }
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
  const auto outcome = train({.strategy = "hsgd", .allreduce = "mpi", .node_period = 3}, 7, nodes);
  CHECK(distance(outcome.weights, simulated.workers[static_cast<std::size_t>(comm.rank())].weights()) < rounding);
}

TEST_CASE("one rank alone trains by plain SGD under every strategy")
{
  comm::Communicator comm(MPI_COMM_SELF);
  for (const std::string strategy : {"sync-sgd", "hsgd", "local-sgd", "sync-easgd", "decentralized-easgd"}) {
    auto sync = elastic(strategy, 1, dt::is_elastic(strategy) ? dt::ElasticForm::before : dt::ElasticForm::paper);
    ManyTensors alone(0), replica(0);
    alone.compute();
    alone.update();
    const auto own = make_with(sync, comm);
    Diary diary;
    own->start(replica); // the centre is where the worker is: the elastic term is zero in the first step
    own->step(replica, diary);
    CAPTURE(strategy);
    CHECK(copy_of(replica.weights()) == copy_of(alone.weights()));
  }
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
    CHECK(train(sync).weights == copy_of(alone.weights()));
  }
}

TEST_CASE("the three forms of sync-easgd give the same trajectory, packed or not, whoever moves messages on")
{
  // A ring's order of adding depends on where a number lies in a message; a tree's, which form 1 has too, does not.
  auto by_tree = [](dt::SyncSpec sync) {
    sync.allreduce = "tree";
    return sync;
  };
  const auto tree = train(by_tree(form(2, dt::ProgressMode::none))), ring = train(form(2, dt::ProgressMode::none));
  CHECK(distance(ring.weights, tree.weights) < rounding);
  CHECK(distance(ring.centre, tree.centre) < rounding);
  for (const auto progress : {dt::ProgressMode::none, dt::ProgressMode::poll, dt::ProgressMode::thread})
    for (const std::int64_t overlap : {1, 2, 3})
      for (const bool pack : {true, false}) {
        CAPTURE(name_of(progress), overlap, pack);
        const auto outcome = train(by_tree(form(overlap, progress, pack)));
        CHECK(outcome.weights == tree.weights);
        CHECK(outcome.centre == tree.centre);
        if (!pack || overlap == 1) continue;
        const auto in_ring = train(form(overlap, progress, pack));
        CHECK(in_ring.weights == ring.weights);
        CHECK(in_ring.centre == ring.centre);
      }
}

TEST_CASE("sync-easgd twice gives equal bits")
{
  for (const std::int64_t overlap : {1, 3}) {
    const auto once = train(form(overlap, dt::ProgressMode::thread)), again = train(form(overlap, dt::ProgressMode::thread));
    CHECK(once.weights == again.weights);
    CHECK(once.centre == again.centre);
  }
}

TEST_CASE("all ranks read the same centre")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"}) {
    const auto centre = train(elastic(strategy)).centre;
    CHECK(comm.all_equal(std::string(reinterpret_cast<const char*>(centre.data()), centre.size() * sizeof(float))));
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
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd", "local-sgd", "sync-sgd", "hsgd"})
    for (const std::int64_t overlap : {1, 3}) {
      auto sync = elastic(strategy, 3);
      sync.overlap = overlap;
      const auto whole = train(sync, 9);

      ManyTensors first(comm.rank(), 0.5F), second(comm.rank(), 0.5F);
      Diary diary;
      const auto before = make_with(sync, comm), later = make_with(sync, comm);
      before->start(first);
      for (first.number = 1; first.number <= 4; ++first.number) before->step(first, diary);

      later->start(second);
      std::ranges::copy(first.weights(), second.weights().begin());
      second.set_velocity(first.velocity());
      const auto kept = before->state(), restored = later->state();
      for (std::size_t s = 0; s < kept.size(); ++s) {
        std::ranges::copy(kept[s].values, restored[s].values.begin());
        if (!kept[s].per_rank) comm.broadcast_record(restored[s].values); // only rank 0's is in the checkpoint
      }
      for (second.number = 5; second.number <= 9; ++second.number) later->step(second, diary);
      CAPTURE(strategy, overlap);
      CHECK(copy_of(second.weights()) == whole.weights);
      if (later->has_centre()) {
        std::vector<float> centre(whole.centre.size());
        later->read_centre(second, centre);
        CHECK(centre == whole.centre);
      }
    }
}

TEST_CASE("only strategies whose workers differ say so")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"sync-sgd", "hsgd"}) {
    CHECK(make_with(elastic(strategy), comm)->replicated());
    CHECK_FALSE(make_with(elastic(strategy), comm)->has_centre());
  }
  CHECK_FALSE(make_with(elastic("local-sgd"), comm)->replicated());
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd"}) {
    CHECK_FALSE(make_with(elastic(strategy), comm)->replicated());
    CHECK(make_with(elastic(strategy), comm)->has_centre());
  }
}

TEST_CASE("what a strategy cannot do is refused with what to take instead")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto beside = elastic("sync-easgd", 1, dt::ElasticForm::after);
  beside.overlap = 3;
  CHECK_THROWS_WITH(make_with(beside, comm), Catch::EndsWith("Take sync.elastic: before, or sync.overlap: 2."));
  CHECK_THROWS_WITH(make_with({.strategy = "local-sgd", .allreduce = "ring", .wire = dt::Wire::bfloat16}, comm),
                    Catch::EndsWith("Take sync.wire: float32."));
}

TEST_CASE("the communication of one step of a period is its share of an exchange")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"sync-easgd", "decentralized-easgd", "local-sgd", "hsgd"}) {
    ManyTensors replica(comm.rank());
    const auto own = make_with(elastic(strategy, 4), comm);
    own->start(replica);
    const auto before = copy_of(replica.weights());
    comm.traffic() = {};
    CHECK(own->isolated_communication_s(replica) >= 0);
    CHECK(comm.traffic().messages == 0);
    CHECK(copy_of(replica.weights()) == before);
  }
}
