// Strategies without a lock on the centre: what must hold however the races end. Started by mpirun.
#include "tests/engine/sync/served_world.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

constexpr std::size_t size = 1 << 10;
constexpr std::int64_t steps = 60;

// One tensor. Its rule leaves alone what has no gradient, as Hogwild's sparse problems do.
class SparseReplica : public Replica {
 public:
  SparseReplica(float start, Range own, float slope) : weights_(size, start), gradients_(size)
  {
    std::ranges::fill(values_at(std::span(gradients_), own), slope);
  }
  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  BatchLoss compute(GradientListener* /*listener*/) override { return {}; }
  using Replica::update;
  void update(Range range, float /*gradient_factor*/) override { apply(range, weights_, gradients_, 1); }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double rate) override
  {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (i == range.size() / 2) std::this_thread::yield(); // somebody else's turn, in the middle of an update
      if (gradients[i] != 0) weights[i] -= static_cast<float>(rate) * gradients[i];
    }
  }
  Step step() const override { return {number, 1, 0}; }
  std::int64_t number = 1; // of the step in progress

 private:
  static constexpr std::array<Range, 1> tensors_{Range{0, size}};
  std::vector<float> weights_, gradients_;
};

// With servers of three threads, and without any.
std::vector<dt::SyncSpec> both(const std::string& strategy)
{
  dt::SyncSpec served{.strategy = strategy, .servers = 1, .server_threads = 3}, shared{.strategy = strategy, .servers = 0};
  served.alpha = shared.alpha = 0.1;
  return {served, shared};
}

// Of all ranks after so many steps; the workers' gradients are `slope` in a share of the weights, or in all of them.
struct Outcome {
  std::vector<float> centre, weights;
  std::size_t workers = 0;
  bool is_worker = false;
  std::vector<ServedUpdate> updates; // of this rank
};

Outcome train(const dt::SyncSpec& sync, float slope, bool disjoint, const std::vector<float>& starts, comm::Communicator& comm)
{
  dt::RunSpec spec;
  spec.sync = sync;
  const auto parts = make_parts(spec, comm, {});
  const auto workers = parts.roles.workers.size(), index = static_cast<std::size_t>(parts.roles.index);
  const std::size_t share = size / workers;
  SparseReplica replica(0, disjoint ? Range{index * share, (index + 1) * share} : Range{0, size}, slope);
  const auto strategy = make_strategy(parts);
  strategy->start(replica);
  if (!starts.empty() && !parts.roles.is_server) std::ranges::fill(replica.weights(), starts[index % starts.size()]);
  Diary diary;
  for (replica.number = 1; replica.number <= steps; ++replica.number) strategy->step(replica, diary);
  Outcome outcome{std::vector<float>(size),
                  {replica.weights().begin(), replica.weights().end()},
                  workers,
                  !parts.roles.is_server,
                  dynamic_cast<ServedStrategy&>(*strategy).updates()};
  strategy->read_centre(replica, outcome.centre);
  return outcome;
}

} // namespace

TEST_CASE("without a lock, updates of disjoint parts are all there in the end")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& sync : both("hogwild-sgd")) {
    CAPTURE(sync.servers);
    const auto outcome = train(sync, -1, true, {}, comm);
    const std::size_t touched = size / outcome.workers * outcome.workers;
    std::vector<float> expected(size, static_cast<float>(steps));
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(touched), expected.end(), 0.0F);
    CHECK((outcome.centre == expected));
  }
}

TEST_CASE("without a lock, updates of the same numbers add up to at most their sum, and are never all lost")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& sync : both("hogwild-sgd")) {
    CAPTURE(sync.servers);
    const auto outcome = train(sync, -1, false, {}, comm);
    const auto all = static_cast<float>(steps) * static_cast<float>(outcome.workers);
    CHECK(std::ranges::all_of(outcome.centre, [&](float value) { return value > 0 && value <= all; }));
  }
}

TEST_CASE("without a lock, elastic averaging moves all of them, and none beyond where they were")
{
  const std::vector<float> starts{2, -1, 5}; // the centre begins at 0
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& sync : both("hogwild-easgd")) {
    CAPTURE(sync.servers);
    const auto outcome = train(sync, 0, false, starts, comm);
    const float low = -1, high = 5;
    const float start = starts[static_cast<std::size_t>(comm.rank()) % starts.size()]; // workers are the first ranks
    CHECK(std::ranges::all_of(outcome.centre, [&](float value) { return value >= low && value <= high && value != 0; }));
    if (outcome.is_worker)
      CHECK(std::ranges::all_of(outcome.weights, [&](float value) { return value >= low && value <= high && value != start; }));
  }
}

TEST_CASE("in a shared window, every update has a number of its own, and staleness counts the others' between")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const std::string strategy = GENERATE("hogwild-sgd", "hogwild-easgd");
  dt::SyncSpec sync{.strategy = strategy, .servers = 0};
  sync.alpha = 0.1;
  const auto outcome = train(sync, -1, false, {}, comm);
  REQUIRE(outcome.updates.size() == static_cast<std::size_t>(steps));
  const auto total = static_cast<std::size_t>(steps * comm.size());
  std::vector<double> taken(total, 0);
  std::int64_t number = -1, step = 0;
  for (const auto& update : outcome.updates) {
    REQUIRE(update.worker == comm.rank());
    REQUIRE(update.step == ++step);
    number += update.staleness + 1;
    REQUIRE(number < static_cast<std::int64_t>(total));
    taken[static_cast<std::size_t>(number)] += 1;
  }
  comm.sum_record(taken);
  CHECK(taken == std::vector<double>(total, 1));
}

TEST_CASE("a shared window is part of the state that a checkpoint holds, once for all ranks")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  SparseReplica replica(static_cast<float>(3 + comm.rank()), {0, 0}, 0);
  const auto strategy = make({.strategy = "hogwild-easgd", .servers = 0}, comm);
  strategy->start(replica);
  const auto state = strategy->state();
  REQUIRE(state.size() == 1);
  CHECK(state[0].name == "centre");
  CHECK_FALSE(state[0].per_rank);
  std::vector<float> centre(size);
  strategy->read_centre(replica, centre);
  CHECK((centre == std::vector<float>(size, 3)));
  if (comm.rank() == comm.size() - 1) state[0].values[5] = 8;
  strategy->read_centre(replica, centre);
  CHECK(centre[5] == 8);
  CHECK(comm.traffic().messages == (comm.is_root() ? 1 : 0)); // the start's broadcast
}

TEST_CASE("a shared window over several nodes is refused")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  dt::RunSpec spec;
  spec.sync = {.strategy = "hogwild-sgd", .servers = 0};
  auto parts = make_parts(spec, comm, {});
  auto nodes = parts.topology.node.vector();
  nodes.back() = 1;
  parts.topology.node = nodes;
  SparseReplica replica(0, {0, 0}, 0);
  CHECK_THROWS_WITH(
      make_strategy(parts)->start(replica),
      "sync.servers: 0 keeps the centre in the memory that the ranks of one node share, but these ranks are on 2 nodes. "
      "Give sync.servers of at least 1.");
}
