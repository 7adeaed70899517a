// Strategies over a replica small enough to calculate by hand. Started by mpirun with several counts of ranks.
#include "core/error.hpp"
#include "core/spec/names.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

dt::SyncSpec sync_sgd() { return {.strategy = "sync-sgd", .allreduce = "mpi"}; }

} // namespace

TEST_CASE("the strategies are those of the vocabulary")
{
  CHECK(registered_strategies() == dt::strings_of(dt::strategy_names()));
}

TEST_CASE("each strategy has a centre, and equal ranks, exactly if its row in core's table says so")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& row : dt::strategy_rows()) {
    if (row.has_servers && comm.size() == 1) continue; // a server needs a worker beside it
    INFO(row.name.name);
    const auto strategy = make({.strategy = std::string(row.name.name), .allreduce = "mpi"}, comm);
    CHECK(strategy->has_centre() == row.has_centre());
    CHECK(strategy->replicated() == row.keeps_equal);
  }
}

TEST_CASE("an unknown strategy is refused with the known ones")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK_THROWS_WITH(make({.strategy = "sync-sgdd", .allreduce = "mpi"}, comm),
                    "there is no strategy `sync-sgdd`; did you mean `sync-sgd`? Allowed: " +
                        dt::join(registered_strategies(), ", "));
}

TEST_CASE("a strategy starts every rank from rank 0's weights")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : registered_strategies()) {
    if (dt::has_servers(name) && comm.size() == 1) continue; // a server needs a worker beside it
    LinearReplica replica(static_cast<float>(3 + comm.rank()), 0, {});
    make({.strategy = name, .allreduce = "mpi"}, comm)->start(replica);
    for (const float weight : replica.weights()) REQUIRE(weight == 3.0F);
  }
}

TEST_CASE("synchronous SGD steps along the mean of the ranks' gradients")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  // Slopes 2, 4, 6, … have the mean P + 1.
  LinearReplica replica(10, static_cast<float>(2 * (comm.rank() + 1)), {1.0, 4});
  const auto strategy = make(sync_sgd(), comm);
  Diary diary;
  strategy->start(replica);
  for (int step = 1; step <= 3; ++step) {
    strategy->step(replica, diary);
    for (const float weight : replica.weights())
      REQUIRE(weight == Approx(10.0F - static_cast<float>(step) * learning_rate * static_cast<float>(ranks + 1)));
  }
}

TEST_CASE("synchronous SGD returns the mean loss over the samples of all ranks")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  // Rank r has r + 1 samples of loss r: the mean weighs samples, not ranks.
  LinearReplica replica(0, 0, {1.0 * comm.rank(), comm.rank() + 1});
  double sum = 0, samples = 0;
  for (int r = 0; r < comm.size(); ++r) {
    sum += r * (r + 1.0);
    samples += r + 1.0;
  }
  Diary diary;
  CHECK(make(sync_sgd(), comm)->step(replica, diary) == Approx(sum / samples));
}

TEST_CASE("phases of synchronous SGD: communication, then update, nested nowhere")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  LinearReplica replica(0, 1, {0, 1});
  Diary diary;
  make(sync_sgd(), comm)->step(replica, diary);
  // The tensors have no padding that could carry the loss: it is summed behind them.
  CHECK(diary.text == (comm.size() > 1 ? "[cc][uu][cc]" : "[cc][uu]"));
}

TEST_CASE("synchronous SGD sends the packed gradients and nothing else")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  LinearReplica replica(0, 1, {0, 1});
  Diary diary;
  make(sync_sgd(), comm)->step(replica, diary);
  CHECK(comm.traffic().bytes == 2 * 400 * (comm.size() - 1) / comm.size());
  CHECK(comm.traffic().messages == (comm.size() > 1 ? 1 : 0));
}
