// Strategies with parameter servers against their sequential replays. Started by mpirun with several counts of ranks.
#include "tests/engine/sync/exchange/replay.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

std::vector<float> weights_of(ChaoticReplica& replica) { return {replica.weights().begin(), replica.weights().end()}; }

constexpr std::int64_t steps = 24;

// One to three servers, and at least one worker.
std::vector<std::int64_t> server_counts(const comm::Communicator& comm)
{
  std::vector<std::int64_t> counts;
  for (std::int64_t servers = 1; servers <= 3 && servers < comm.size(); ++servers) counts.push_back(servers);
  return counts;
}

void check_replay(const dt::SyncSpec& sync, float momentum, comm::Communicator& comm)
{
  CAPTURE(sync.strategy, sync.servers, sync.period, name_of(sync.elastic), sync.pack, sync.rho);
  const auto real = run(sync, steps, momentum, comm);
  if (!comm.is_root()) return;
  Replay replay(sync, steps, momentum, real);
  const auto expected = replay.run();
  REQUIRE(replay.is_complete());
  for (std::size_t w = 0; w < expected.workers.size(); ++w)
    REQUIRE(real.weights[static_cast<std::size_t>(real.roles.workers[w])] == expected.workers[w]);
  const auto parts = parts_for_servers(ChaoticReplica(0).tensors(), ChaoticReplica::size, real.roles.servers.size(),
                                       dt::is_elastic(sync.strategy) ? Cut::floats : Cut::tensors);
  for (std::size_t s = 0; s < parts.size(); ++s)
    for (std::size_t i = parts[s].begin; i < parts[s].end; ++i)
      REQUIRE(real.weights[static_cast<std::size_t>(real.roles.servers[s])][i] == expected.centre[i]);
}

} // namespace

TEST_CASE("SGD over servers is, to the last bit, what one thread does in the recorded order")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto servers : server_counts(comm))
    for (const bool pack : {true, false}) {
      check_replay({.strategy = "async-sgd", .pack = pack, .servers = servers}, 0, comm);
      check_replay({.strategy = "hogwild-sgd", .pack = pack, .servers = servers, .server_threads = 1}, 0, comm);
      check_replay({.strategy = "async-msgd", .pack = pack, .servers = servers}, 0.9F, comm);
    }
}

TEST_CASE("elastic averaging over servers is, to the last bit, what one thread does in the recorded order")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::string strategy : {"easgd", "async-easgd", "async-measgd", "hogwild-easgd"})
    for (const auto servers : server_counts(comm))
      for (const auto elastic : {dt::ElasticForm::before, dt::ElasticForm::after})
        for (const std::int64_t period : {1, 3}) {
          const float momentum = strategy == "async-measgd" ? 0.9F : 0;
          SyncSpec sync{.strategy = strategy, .period = period, .alpha = 0.2, .elastic = elastic, .servers = servers};
          sync.pack = period == 1;
          sync.server_threads = 1;
          check_replay(sync, momentum, comm);
          sync.alpha = 0;
          sync.rho = 0.7;
          check_replay(sync, momentum, comm);
        }
}

TEST_CASE("every worker's every exchange is served once, in the order of its steps, and its staleness is what the order says")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const std::string strategy =
      GENERATE("async-sgd", "async-msgd", "hogwild-sgd", "easgd", "async-easgd", "async-measgd", "hogwild-easgd");
  const std::int64_t period = dt::is_elastic(strategy) ? 2 : 1;
  const auto real = run({.strategy = strategy, .period = period, .alpha = 0.1}, steps, 0, comm);
  for (const int server : real.roles.servers) {
    if (!comm.is_root()) break;
    const auto& updates = real.updates[static_cast<std::size_t>(server)];
    const auto workers = real.roles.workers.size();
    REQUIRE(updates.size() == workers * static_cast<std::size_t>(steps / period));
    std::vector<std::int64_t> last_step(workers, 0), others(workers, 0);
    for (const auto& update : updates) {
      const auto worker = static_cast<std::size_t>(update.worker);
      REQUIRE(update.step == last_step[worker] + period);
      REQUIRE(update.staleness == others[worker]);
      last_step[worker] = update.step;
      for (std::size_t w = 0; w < workers; ++w) others[w] = w == worker ? 0 : others[w] + 1;
    }
  }
}

TEST_CASE("original EASGD serves worker i + 1 never before worker i")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const std::int64_t servers = comm.size() > 3 ? 2 : 1;
  const auto real = run({.strategy = "easgd", .alpha = 0.1, .servers = servers}, steps, 0, comm);
  const auto workers = static_cast<std::int32_t>(real.roles.workers.size());
  for (const int server : real.roles.servers) {
    if (!comm.is_root()) break;
    std::int32_t turn = 0;
    for (const auto& update : real.updates[static_cast<std::size_t>(server)]) REQUIRE(update.worker == turn++ % workers);
  }
}

TEST_CASE("in turn, the number of servers and of messages changes no bit")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 4) return;
  // The same workers each time: what is left of the ranks does nothing.
  const auto workers = comm.size() - 3;
  std::vector<std::vector<float>> first;
  for (std::int64_t servers = 1; servers <= 3; ++servers)
    for (const bool pack : {true, false}) {
      const auto some = comm.split(comm.rank() < workers + servers ? 0 : -1, comm.rank());
      if (!some) continue;
      auto real = run({.strategy = "easgd", .period = 2, .alpha = 0.2, .pack = pack, .servers = servers}, steps, 0, *some);
      if (!comm.is_root()) continue;
      real.weights.resize(static_cast<std::size_t>(workers));
      if (first.empty()) first = real.weights;
      REQUIRE(real.weights == first);
    }
}

TEST_CASE("one worker with servers trains as plain SGD alone")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto strategy = GENERATE("async-sgd", "async-msgd", "hogwild-sgd");
  const float momentum = strategy == std::string("async-msgd") ? 0.9F : 0;
  const auto real = run({.strategy = strategy, .servers = comm.size() - 1}, steps, momentum, comm);
  if (!comm.is_root()) return;
  ChaoticReplica alone(0, momentum);
  for (; alone.number <= steps; ++alone.number) {
    alone.compute();
    alone.update();
  }
  CHECK(real.weights[0] == weights_of(alone));
}

TEST_CASE("elastic workers with alpha 0 train independently, and the centre stays")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto real = run({.strategy = "async-easgd", .alpha = 0}, steps, 0, comm);
  if (!comm.is_root()) return;
  ChaoticReplica first(0);
  for (const int worker : real.roles.workers) {
    ChaoticReplica alone(worker);
    std::ranges::copy(first.weights(), alone.weights().begin());
    for (; alone.number <= steps; ++alone.number) {
      alone.compute();
      alone.update();
    }
    CHECK(real.weights[static_cast<std::size_t>(worker)] == weights_of(alone));
  }
  CHECK(real.weights[static_cast<std::size_t>(real.roles.servers[0])] == weights_of(first));
}
