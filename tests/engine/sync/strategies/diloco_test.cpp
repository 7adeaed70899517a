// diloco against values by hand, against local-sgd, and against all workers simulated in one program. Started by mpirun with
// several counts of ranks.
#include "engine/sync/exchange/fragments.hpp"
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

SyncSpec diloco(std::int64_t period, const OuterSpec& outer = {})
{
  return {.strategy = "diloco", .allreduce = "ring", .period = period, .outer = outer};
}

// All workers in one program, one after another, by the words of the papers, with the outer rule in double.
struct Simulated {
  SyncSpec sync;
  std::vector<Fragment> fragments;
  std::vector<ManyTensors> workers{};
  std::vector<double> centre{}, sum{}, first{}, second{}; // first, second: the rule's buffers
  std::vector<int> updates{};                             // of each fragment

  Simulated(const SyncSpec& of, int ranks)
      : sync(of), fragments(plan_fragments(ManyTensors(0).tensors(), ManyTensors(0).weights().size(), of))
  {
    for (int r = 0; r < ranks; ++r) workers.emplace_back(r, 0.5F);
    centre.assign(workers[0].weights().begin(), workers[0].weights().end());
    sum.resize(centre.size());
    first.resize(centre.size());
    second.resize(centre.size());
    updates.resize(fragments.size());
  }

  void step(std::int64_t number)
  {
    for (auto& worker : workers) {
      worker.number = number;
      worker.compute();
      worker.update();
    }
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      const auto [range, offset] = fragments[f];
      if (number % sync.period == offset)
        for (auto i = range.begin; i < range.end; ++i) sum[i] = pseudo_gradient(i);
      const auto sent = number - sync.outer.delay;
      if (sent < 1 || sent % sync.period != offset) continue;
      ++updates[f];
      for (auto i = range.begin; i < range.end; ++i) move(i, updates[f]);
    }
  }

  double pseudo_gradient(std::size_t i)
  {
    double all = 0;
    for (auto& worker : workers) all += centre[i] - static_cast<double>(worker.weights()[i]);
    return all / static_cast<double>(workers.size());
  }
  void move(std::size_t i, int t)
  {
    centre[i] -= sync.outer.learning_rate * moved(sum[i], first[i], second[i], t);
    const double mix = sync.outer.mix;
    for (auto& worker : workers)
      worker.weights()[i] = static_cast<float>(mix * static_cast<double>(worker.weights()[i]) + (1 - mix) * centre[i]);
  }
  double moved(double d, double& v, double& s, int t) const
  {
    const auto& [rule, rate, beta, beta2, epsilon, parts, delay, mix] = sync.outer;
    if (rule == OuterRule::sgd) return d;
    if (rule == OuterRule::adam) {
      v = beta * v + (1 - beta) * d;
      s = beta2 * s + (1 - beta2) * d * d;
      return v / (1 - std::pow(beta, t)) / (std::sqrt(s / (1 - std::pow(beta2, t))) + epsilon);
    }
    v = beta * v + d;
    return rule == OuterRule::momentum ? v : d + beta * v;
  }
};

constexpr double rounding = 1e-4; // of weights up to about 10, over a few outer steps

// Every rule; adam with an epsilon that keeps it from dividing rounding errors by each other.
std::vector<OuterSpec> rules()
{
  return {{.rule = OuterRule::sgd, .learning_rate = 1},
          {.rule = OuterRule::momentum, .learning_rate = 0.8, .momentum = 0.5},
          {},
          {.rule = OuterRule::adam, .learning_rate = 0.2, .beta2 = 0.9, .epsilon = 0.1}};
}

OuterSpec streaming(OuterSpec outer, std::int64_t fragments, std::int64_t delay, double mix)
{
  outer.fragments = fragments;
  outer.delay = delay;
  outer.mix = mix;
  return outer;
}

// A weight that moves by 2 a step, and a running statistic that follows each rank's own value.
class WithStatistic : public LinearReplica {
 public:
  explicit WithStatistic(float own) : LinearReplica(0, -1, {1, 1}), own_(own) {}
  std::span<const Range> statistics() override { return places_; }
  using Replica::update;
  void update(Range range, float factor) override
  {
    LinearReplica::update(range, factor);
    std::ranges::fill(values_at(weights(), places_[0]), own_);
  }

 private:
  static constexpr std::array<Range, 1> places_{Range{40, 100}};
  float own_;
};

// The outer parameter after each of two periods of one step, in which the workers' mean moves from it by 2.
std::pair<float, float> two_periods(const OuterSpec& outer, comm::Communicator& comm)
{
  // The replica's learning rate is 0.5: the ranks move by 4 r / (P - 1), or by 2 if there is one.
  const float slope = comm.size() == 1 ? -4 : -8 * static_cast<float>(comm.rank()) / static_cast<float>(comm.size() - 1);
  LinearReplica replica(0, slope, {1, 1});
  const auto strategy = make(diloco(1, outer), comm);
  Diary diary;
  strategy->start(replica);
  std::vector<float> outers;
  for (replica.number = 1; replica.number <= 2; ++replica.number) {
    strategy->step(replica, diary);
    CHECK(replica.weights()[0] == replica.weights()[99]);
    outers.push_back(replica.weights()[0]);
  }
  return {outers[0], outers[1]};
}

} // namespace

TEST_CASE("diloco's outer rules by hand: two periods whose pseudo-gradient is -2")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto check = [&](const OuterSpec& outer, double first, double second) {
    const auto [one, two] = two_periods(outer, comm);
    CHECK(one == Approx(first).epsilon(1e-5));
    CHECK(two == Approx(second).epsilon(1e-5));
  };
  // v = -2: 0.7 (2 + 0.9 * 2) = 2.66. v = -3.8: 2.66 + 0.7 (2 + 0.9 * 3.8) = 6.454.
  check({}, 2.66, 6.454);
  // v = -2: 1.4. v = -3.8: 1.4 + 0.7 * 3.8 = 4.06.
  check({.rule = OuterRule::momentum}, 1.4, 4.06);
  check({.rule = OuterRule::sgd}, 1.4, 2.8);
  // Corrected m = -2 and s = 4 both times: 0.7 * 2 / (2 + 1.5) = 0.4.
  check({.rule = OuterRule::adam, .epsilon = 1.5}, 0.4, 0.8);
}

TEST_CASE("diloco follows its equations, simulated for all workers in one program")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& rule : rules())
    for (const auto& [fragments, delay, mix] :
         {std::tuple{1, 0, 0.0}, {1, 0, 0.25}, {1, 2, 0.0}, {3, 0, 0.0}, {3, 1, 0.5}, {4, 3, 0.5}}) {
      const auto sync = diloco(4, streaming(rule, fragments, delay, mix));
      Simulated simulated(sync, comm.size());
      for (int step = 1; step <= 14; ++step) simulated.step(step);
      const auto outcome = train(sync, 14);
      CAPTURE(name_of(rule.rule), fragments, delay, mix);
      CHECK(distance(outcome.weights, copy_of(simulated.workers[static_cast<std::size_t>(comm.rank())].weights())) < rounding);
      CHECK(distance(outcome.centre, simulated.centre) < rounding);
    }
}

TEST_CASE("after an exchange of the whole model all ranks of diloco begin at the centre, with equal bits")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto wire : {Wire::float32, Wire::bfloat16, Wire::int8, Wire::int4}) {
    auto sync = diloco(3);
    sync.wire = wire;
    const auto outcome = train(sync, 6);
    CHECK(outcome.weights == outcome.centre);
    const auto after = train(sync, 7);
    CHECK(after.centre == outcome.centre);
    CHECK(is_equal_on_all(after.centre, comm));
  }
}

TEST_CASE("a run of diloco that is taken up between two exchanges goes on bit for bit")
{
  for (const auto& rule : rules())
    for (const auto& outer : {rule, streaming(rule, 3, 2, 0.5)}) {
      const auto whole = train(diloco(4, outer), 13);
      for (const std::int64_t stop : {4, 5, 6}) {
        const auto pieces = train_in_two(diloco(4, outer), stop, 13);
        CAPTURE(name_of(rule.rule), outer.fragments, stop);
        CHECK(pieces.weights == whole.weights);
        CHECK(pieces.centre == whole.centre);
      }
    }
}

TEST_CASE("sums of diloco beside the computation leave the bits of sums after it, packed or not")
{
  auto sync = diloco(4, streaming({}, 3, 2, 0.5));
  sync.allreduce = "tree"; // its order of adding does not depend on where a number lies in a message
  const auto expected = train(sync, 13);
  for (const auto progress : {ProgressMode::none, ProgressMode::poll, ProgressMode::thread})
    for (const bool pack : {true, false}) {
      sync.progress = progress;
      sync.pack = pack;
      const auto outcome = train(sync, 13);
      CAPTURE(name_of(progress), pack);
      CHECK(outcome.weights == expected.weights);
      CHECK(outcome.centre == expected.centre);
    }
}

TEST_CASE("diloco sends every number once a period, in one message for each piece of a fragment")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const auto n = static_cast<std::int64_t>(ManyTensors(0).weights().size_bytes());
  for (const auto& [fragments, delay] : {std::pair{1, 0}, {1, 2}, {3, 0}, {3, 2}}) {
    auto sync = diloco(4, streaming({}, fragments, delay, 0));
    sync.allreduce = "mpi"; // a sum counts as one message with the bytes of the best algorithm
    // The last sums of the second period are made at its end, or `delay` steps later.
    const auto outcome = train(sync, 8 + delay), before = train(sync, 4 + delay);
    CAPTURE(fragments, delay);
    CHECK(outcome.traffic.messages - before.traffic.messages == fragments * std::max(1, delay));
    CHECK(std::abs(outcome.traffic.bytes - before.traffic.bytes -
                   comm::bandwidth_optimal_bytes(static_cast<std::size_t>(n), comm.size())) <=
          fragments * std::max(1, delay)); // each sum's bytes are rounded
  }
}

TEST_CASE("diloco over fewer bits stays near diloco over float32, the nearer the more bits there are")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  auto sync = diloco(4, {.rule = OuterRule::sgd, .learning_rate = 1});
  const auto exact = train(sync, 12).centre;
  double nearer = 0;
  for (const auto& [wire, farthest] : {std::pair{Wire::bfloat16, 0.1}, {Wire::int8, 0.3}, {Wire::int4, 5.0}}) {
    sync.wire = wire;
    const auto off = distance(train(sync, 12).centre, exact);
    CAPTURE(name_of(wire), off);
    CHECK(off > nearer);
    CHECK(off < farthest);
    nearer = off;
  }
}

TEST_CASE("coded sums of diloco beside the computation leave the bits of coded sums after it")
{
  auto sync = diloco(4, streaming({}, 3, 2, 0.5));
  sync.wire = Wire::int4;
  const auto expected = train(sync, 13);
  for (const auto progress : {ProgressMode::poll, ProgressMode::thread}) {
    sync.progress = progress;
    CHECK(train(sync, 13).centre == expected.centre);
  }
}

TEST_CASE("running statistics become the mean of the workers under every outer rule")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& rule : rules()) {
    WithStatistic replica(static_cast<float>(comm.rank()));
    const auto strategy = make(diloco(1, rule), comm);
    Diary diary;
    strategy->start(replica);
    for (replica.number = 1; replica.number <= 3; ++replica.number) strategy->step(replica, diary);
    CAPTURE(name_of(rule.rule));
    for (const std::size_t i : {40, 99}) CHECK(replica.weights()[i] == Approx((comm.size() - 1) / 2.0));
  }
}

TEST_CASE("diloco says in which steps its workers wait for each other, and spends the others alone")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [delay, expected] : {std::pair{0, "00010001"}, {2, "00001100"}}) {
    LinearReplica replica(0, 1, {2.5, 3});
    const auto strategy = make(diloco(4, streaming({}, 1, delay, 0)), comm);
    strategy->start(replica);
    std::string meets;
    for (replica.number = 1; replica.number <= 8; ++replica.number) {
      Diary diary;
      meets += strategy->meets(replica) ? '1' : '0';
      CHECK(strategy->step(replica, diary) == 2.5);
      CHECK((diary.text.find("[cc]") != std::string::npos) == (meets.back() == '1'));
    }
    CHECK(meets == expected);
  }
}

TEST_CASE("diloco refuses a delay or fragments that cannot be, and rounding running variances")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(make(diloco(4, streaming({}, 1, 4, 0)), comm),
                    Catch::StartsWith("sync.outer.delay is 4 and sync.period 4: "));
  auto rounded = diloco(4);
  rounded.wire = Wire::int8;
  WithStatistic with_statistic(0);
  CHECK_THROWS_WITH(make(rounded, comm)->start(with_statistic),
                    "sync.wire: int8 would round the running variances of batch normalisation, which may then become negative. "
                    "Take sync.wire: float32.");
  ManyTensors replica(comm.rank());
  CHECK_THROWS_WITH(make(diloco(20, streaming({}, 13, 0, 0)), comm)->start(replica),
                    "sync.outer.fragments is 13, but the model has only 12 tensors, and a fragment is made of whole tensors. "
                    "Take at most 12.");
}
