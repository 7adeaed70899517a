// Strategies over a replica small enough to calculate by hand. Started by mpirun with several counts of ranks.
#include "core/spec/names.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "tests/engine/sync/trained.hpp"

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

TEST_CASE("every strategy measures its communication alone, which changes no weights and is no traffic")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : registered_strategies()) {
    const bool served = dt::has_servers(name);
    if (served && comm.size() == 1) continue;
    INFO(name);
    ManyTensors replica(comm.rank());
    const auto strategy = make({.strategy = name,
                                .allreduce = "ring",
                                .period = 4,
                                .bucket_bytes = 2048,
                                .progress = served ? ProgressMode::none : ProgressMode::thread},
                               comm);
    strategy->start(replica);
    const auto before = copy_of(replica.weights());
    comm.traffic() = {};
    const double seconds = strategy->isolated_communication_s(replica);
    CHECK((served ? !(seconds < 0) : seconds >= 0)); // only the first worker of a server measures it
    CHECK(comm.traffic().messages == 0);
    CHECK(copy_of(replica.weights()) == before);
  }
}
