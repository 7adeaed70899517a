// Ranks that share one copy of the weights: the same bits as ranks with weights of their own. Started by mpirun with several
// counts of ranks.
#include "core/error.hpp"
#include "engine/sync/exchange/node_step.hpp"
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

constexpr int steps = 7;

SyncSpec hierarchical(const std::string& strategy, ProgressMode progress)
{
  return {.strategy = strategy, .allreduce = "hierarchical", .bucket_bytes = 2048, .progress = progress};
}

bool shares(const std::string& strategy, const std::string& optimizer, ProgressMode progress, double clip_norm = 0,
            const std::string& allreduce = "hierarchical", int nodes = 1)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  RunSpec spec;
  spec.sync = {.strategy = strategy, .allreduce = allreduce, .progress = progress};
  spec.optimizer.name = optimizer;
  spec.optimizer.clip_norm = clip_norm;
  auto parts = make_parts(spec, comm, {});
  std::vector<int> node;
  for (int rank = 0; rank < comm.size(); ++rank) node.push_back(rank % nodes);
  parts.topology.node = node;
  return shares_weights(spec, parts);
}

} // namespace

TEST_CASE("ranks that share one copy of the weights make the steps of ranks with their own, bit for bit")
{
  for (const std::string strategy : {"sync-sgd", "hsgd"})
    for (const auto progress : {ProgressMode::none, ProgressMode::poll})
      for (const bool padding : {true, false}) {
        CAPTURE(strategy, name_of(progress), padding);
        const auto own = train(hierarchical(strategy, progress), steps, {.padding = padding});
        const auto shared = train(hierarchical(strategy, progress), steps, {.padding = padding, .shares_memory = true});
        CHECK(shared.weights == own.weights);
        CHECK(shared.velocity == own.velocity);
        CHECK(shared.losses == own.losses);
        CHECK(shared.traffic.bytes == 0);
        for (const float weight : shared.weights) REQUIRE(weight == weight); // no gradient was summed before it was there
      }
}

TEST_CASE("a step in shared memory waits, updates and waits")
{
  const auto phases = train(hierarchical("hsgd", ProgressMode::none), steps, {.shares_memory = true}).phases;
  CHECK(phases.substr(0, 12) == "[cc][uu][cc]");
  CHECK(phases.size() == 12 * steps);
}

TEST_CASE("ranks of one node share their weights where they stay equal and every float is updated on its own")
{
  const bool several = comm::Communicator(MPI_COMM_WORLD).size() > 1;
  for (const std::string strategy : {"sync-sgd", "hsgd"})
    for (const std::string optimizer : {"sgd", "momentum", "nesterov", "adam"})
      for (const auto progress : {ProgressMode::none, ProgressMode::poll}) {
        CAPTURE(strategy, optimizer);
        CHECK(shares(strategy, optimizer, progress) == several);
      }
  CHECK_FALSE(shares("hsgd", "lars", ProgressMode::none));
  CHECK_FALSE(shares("hsgd", "sgd", ProgressMode::none, 1.0));
  CHECK_FALSE(shares("hsgd", "sgd", ProgressMode::thread));
  CHECK_FALSE(shares("sync-sgd", "sgd", ProgressMode::none, 0, "ring"));
  CHECK_FALSE(shares("local-sgd", "sgd", ProgressMode::none));
  CHECK_FALSE(shares("sync-easgd", "sgd", ProgressMode::none));
  if (several) CHECK_FALSE(shares("hsgd", "sgd", ProgressMode::none, 0, "hierarchical", 2));
}

TEST_CASE("an error in the update of a slice comes to the caller")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t length : {std::size_t{5000}, std::size_t{600'000}}) {
    comm::SharedVectors memory(comm, {.length = length});
    CHECK_THROWS_WITH(
        sum_own_slice(memory, [](std::size_t, std::span<const float>) { throw Error(ErrorKind::run, "not finite"); }),
        "not finite");
    comm.barrier();
  }
}

TEST_CASE("the reduction alone is measured and changes no weights")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  ManyTensors replica(comm.rank(), 0.5F);
  comm::SharedVectors memory(comm, {replica.weights().size(), 2});
  replica.live_in(memory);
  const std::vector<float> before(replica.weights().begin(), replica.weights().end());
  comm.barrier();
  const auto strategy = make(hierarchical("hsgd", ProgressMode::none), comm, replica.node_slices());
  CHECK(strategy->isolated_communication_s(replica) >= 0);
  CHECK(std::equal(before.begin(), before.end(), replica.weights().begin()));
  comm.barrier();
}
