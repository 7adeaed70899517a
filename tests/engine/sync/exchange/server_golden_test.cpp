// Strategies with parameter servers by hand: the papers' small numbers, messages, errors. Started by mpirun.
#include "engine/optim/optimizer.hpp"
#include "engine/sync/exchange/served_strategy.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

// Steps by hand on a strategy over the first ranks: so many workers, and one server.
struct Outcome {
  bool takes_part = false;
  bool is_server = false;
  float weight = 0;
};

struct Small {
  float start;                           // of all ranks, the centre too
  std::vector<float> weights, gradients; // of each worker, the weights set after the start
  double eta;
  std::int64_t steps;
};

Outcome run(const dt::SyncSpec& sync, const Small& small, comm::Communicator& world)
{
  const auto workers = static_cast<int>(small.weights.size());
  const auto comm = world.split(world.rank() <= workers ? 0 : -1, world.rank());
  if (!comm || comm->size() <= workers) return {};
  const bool serves = comm->rank() == workers;
  const auto index = static_cast<std::size_t>(comm->rank());
  LinearReplica replica(small.start, serves ? 99 : small.gradients[index], {0.5, 4}, small.eta);
  const auto strategy = make(sync, *comm);
  strategy->start(replica);
  if (!serves) std::ranges::fill(replica.weights(), small.weights[index]);
  Diary diary;
  for (replica.number = 1; replica.number <= small.steps; ++replica.number) strategy->step(replica, diary);
  const float weight = replica.weights()[0];
  for (const float other : replica.weights()) REQUIRE(other == weight);
  return {true, serves, weight};
}

// The update rule that the trainer makes for the strategy, momentum 1/2, with a gradient and a learning rate for each step.
class ScheduledReplica : public LinearReplica {
 public:
  ScheduledReplica(const std::string& strategy, float w, std::vector<float> gradients, std::vector<double> rates)
      : LinearReplica(w, 0, {0.5, 4}), slopes_(std::move(gradients)), rates_(std::move(rates)),
        rule_(optim::make_optimizer({.name = "momentum", .momentum = 0.5}, 100, {{{0, 40}, true}, {{40, 100}, true}},
                                    optim::velocity_of(strategy)))
  {
  }
  using Replica::compute;
  BatchLoss compute(GradientListener* /*listener*/) override
  {
    std::ranges::fill(gradients(), slopes_[static_cast<std::size_t>(number - 1)]);
    return {0.5, 4};
  }
  using Replica::update;
  void update(Range range, float /*factor*/) override { apply(range, weights(), gradients(), step().learning_rate); }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double rate) override
  {
    rule_->step(weights, gradients, rate, {range});
  }
  Step step() const override { return {number, rates_[static_cast<std::size_t>(number - 1)], 0}; }

 private:
  std::vector<float> slopes_;
  std::vector<double> rates_;
  std::unique_ptr<optim::Optimizer> rule_;
};

} // namespace

TEST_CASE("one worker with momentum follows V <- mu V - eta g, W <- W + V when eta changes, on the server and on the worker")
{
  comm::Communicator world(MPI_COMM_WORLD);
  const std::string strategy = GENERATE("async-msgd", "async-measgd");
  const auto comm = world.split(world.rank() < 2 ? 0 : -1, world.rank());
  if (!comm) return;
  const auto own = make({.strategy = strategy, .alpha = 0}, *comm);
  ScheduledReplica replica(strategy, 1, {2, 4, 0}, {0.5, 0.25, 1});
  own->start(replica);
  Diary diary;
  std::vector<float> path;
  for (replica.number = 1; replica.number <= 3; ++replica.number) {
    own->step(replica, diary);
    path.push_back(replica.weights()[0]);
  }
  // mu 1/2: V = -1, -0.5 - 1, -0.75. A worker of elastic averaging with alpha 0 leaves its centre alone.
  const bool is_centre_of_easgd = strategy == "async-measgd" && comm->rank() == 1;
  CHECK(path == (is_centre_of_easgd ? std::vector<float>{1, 1, 1} : std::vector<float>{0, -1.5, -2.25}));
}

TEST_CASE("on a server one worker's learning rate does not scale what another worker's gradients left in the velocity")
{
  comm::Communicator world(MPI_COMM_WORLD);
  if (world.size() < 3) return;
  const auto comm = world.split(world.rank() < 3 ? 0 : -1, world.rank());
  if (!comm) return;
  const auto own = make({.strategy = "async-msgd"}, *comm);
  // The second worker has no gradient and a rate a hundred times as large, so the order in which the two are served does not
  // matter but for the velocity's decay: V = -1 and then -0.5, or 0 and then -1.
  ScheduledReplica replica("async-msgd", 1, {comm->rank() == 0 ? 2.0F : 0.0F}, {comm->rank() == 0 ? 0.5 : 50.0});
  own->start(replica);
  Diary diary;
  own->step(replica, diary);
  if (comm->rank() != 2) return;
  const auto& first = dynamic_cast<ServedStrategy&>(*own).updates().front();
  CHECK(replica.weights()[0] == (first.worker == 0 ? -0.5F : 0.0F));
}

TEST_CASE("elastic averaging by hand: of two workers served in turn, the second meets the centre that the first has moved")
{
  struct Row {
    std::string what;
    SyncSpec sync;
    Small small;
    std::vector<float> workers;
    float centre;
  };
  const auto after = dt::ElasticForm::after;
  std::vector<Row> rows{
      // The papers' centre 0, W = (1, 3), g = (1, -1), eta 0.1, rho 1. Of one moment for all (sync-easgd) it gives (0.8, 2.8) and
      // 0.4. In turn: W1 = 3 - 0.1 (-1 + (3 - 0.1)) = 2.81, and the centre is 0.1 + 0.1 (3 - 0.1) = 0.39.
      {"original EASGD", {.strategy = "easgd", .rho = 1}, {0, {1, 3}, {1, -1}, 0.1, 1}, {0.8F, 2.81F}, 0.39F},
      {"after the local step",
       {.strategy = "easgd", .alpha = 0.5, .elastic = after},
       {0, {0, 0}, {-1, -1}, 1, 1},
       {0.5F, 0.75F},
       0.75F},
      {"between two exchanges a worker is alone",
       {.strategy = "async-easgd", .period = 4, .alpha = 1},
       {0, {0}, {-1}, 1, 3},
       {3},
       0},
      {"a worker at its centre takes the step of plain SGD",
       {.strategy = "easgd", .alpha = 0.3},
       {5, {5}, {2}, 0.25, 1},
       {4.5F},
       5},
  };
  for (const auto* strategy : {"easgd", "async-easgd", "async-measgd"})
    rows.push_back(
        {"tau 2 and alpha 1", {.strategy = strategy, .period = 2, .alpha = 1, .elastic = after}, {0, {0}, {-1}, 1, 2}, {0}, 2});
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& [what, sync, small, workers, centre] : rows) {
    CAPTURE(what, sync.strategy);
    const auto outcome = run(sync, small, comm);
    if (!outcome.takes_part) continue;
    CHECK(outcome.weight == Approx(outcome.is_server ? centre : workers[static_cast<std::size_t>(comm.rank())]));
  }
}

TEST_CASE("servers' parts cover the buffer in order, and begin where the rule allows it")
{
  const std::vector<Range> tensors{{0, 40}, {48, 55}, {64, 194}, {208, 224}};
  const auto begins = [&](std::size_t servers, Cut cut) {
    std::vector<std::size_t> offsets;
    std::size_t end = 0;
    for (const auto& part : parts_for_servers(tensors, 224, servers, cut)) {
      REQUIRE(part.begin == end);
      offsets.push_back(part.begin);
      end = part.end;
    }
    REQUIRE(end == 224);
    return offsets;
  };
  using Offsets = std::vector<std::size_t>;
  CHECK(begins(1, Cut::tensors) == Offsets{0});
  CHECK(begins(2, Cut::tensors) == Offsets{0, 64});
  CHECK(begins(3, Cut::tensors) == Offsets{0, 64, 208});
  CHECK(begins(2, Cut::floats) == Offsets{0, 112});
  CHECK(begins(3, Cut::floats) == Offsets{0, 80, 144});
  CHECK(begins(6, Cut::tensors).size() == 6); // more servers than tensors: some have nothing
  CHECK(begins(40, Cut::floats).size() == 40);
}

TEST_CASE("a part goes in one message, or in one a tensor without its padding")
{
  const std::vector<Range> tensors{{0, 40}, {48, 55}, {64, 194}, {208, 224}};
  const auto sizes = [&](Range part, bool pack) {
    std::vector<std::size_t> all;
    for (const auto& message : messages_of(part, tensors, pack)) all.push_back(message.size());
    return all;
  };
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes({0, 112}, true) == Sizes{112});
  CHECK(sizes({0, 112}, false) == Sizes{40, 7, 48});
  CHECK(sizes({112, 224}, false) == Sizes{82, 16});
  CHECK(sizes({112, 112}, true).empty());
  CHECK(sizes({55, 64}, false).empty()); // padding only
}

TEST_CASE("an exchange costs a head and the values a server, and the answers")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const std::string strategy = GENERATE("async-sgd", "easgd", "async-easgd");
  const bool pack = GENERATE(true, false);
  const std::int64_t servers = comm.size() > 2 ? 2 : 1, workers = comm.size() - servers;
  const auto made = make({.strategy = strategy, .alpha = 0.1, .pack = pack, .servers = servers}, comm);
  LinearReplica replica(1, 1, {0, 1});
  Diary diary;
  made->start(replica);
  comm.traffic() = {};
  made->isolated_communication_s(replica);
  CHECK(comm.traffic().bytes == 0);
  for (replica.number = 1; replica.number <= 3; ++replica.number) made->step(replica, diary);
  // 100 floats in tensors of 40 and 60. Cut in two: at the tensor for SGD, at float 48 for elastic averaging, in three messages.
  const bool cut = strategy != "async-sgd" && servers == 2;
  const std::int64_t messages = pack ? servers : cut ? 3 : 2;
  const bool serves = comm.rank() >= workers;
  std::array mine{static_cast<double>(comm.traffic().bytes), static_cast<double>(comm.traffic().messages)};
  if (!serves) {
    CHECK(comm.traffic().bytes == 3 * (24 * servers + 400));
    CHECK(comm.traffic().messages == 3 * (servers + messages));
    mine = {0, 0};
  }
  comm.sum_record(mine);
  CHECK(mine[0] == static_cast<double>(3 * workers * 400));
  CHECK(mine[1] == static_cast<double>(3 * workers * messages));
}

TEST_CASE("the centre is read from all servers by everyone, without traffic that counts")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto made = make({.strategy = "async-sgd", .servers = comm.size() > 2 ? 2 : 1}, comm);
  LinearReplica replica(7, 0, {0, 1});
  made->start(replica);
  const auto traffic = comm.traffic();
  std::ranges::fill(replica.weights(), static_cast<float>(comm.rank()));
  std::vector<float> centre(100, -1);
  REQUIRE(made->has_centre());
  made->read_centre(replica, centre);
  CHECK(comm.traffic().bytes == traffic.bytes);
  const auto first = static_cast<float>(comm.size() > 2 ? comm.size() - 2 : 1), last = static_cast<float>(comm.size() - 1);
  CHECK(std::all_of(centre.begin(), centre.begin() + 40, [&](float value) { return value == first; }));
  CHECK(std::all_of(centre.begin() + 40, centre.end(), [&](float value) { return value == last; }));
}

TEST_CASE("a worker reports its own batch's loss, a server none, and neither nests its phases")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto made = make({.strategy = "async-easgd", .alpha = 0.1}, comm);
  LinearReplica replica(1, 1, {0.5 + comm.rank(), 4});
  Diary diary;
  made->start(replica);
  const double loss = made->step(replica, diary);
  CHECK_FALSE(made->replicated());
  if (comm.rank() == comm.size() - 1) {
    CHECK(std::isnan(loss));
    CHECK(made->staleness().size() == static_cast<std::size_t>(comm.size() - 1));
  } else {
    CHECK(loss == 0.5 + comm.rank());
    CHECK(diary.text == "[cc][uu][uu][uu]");
    CHECK(made->staleness().empty());
  }
}

TEST_CASE("a strategy that needs a server is refused without one")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string name : {"async-sgd", "easgd", "async-easgd", "async-measgd"})
    CHECK_THROWS_WITH(make({.strategy = name, .servers = 0}, comm),
                      "The strategy `" + name + "` needs a parameter server: give sync.servers of at least 1.");
}
