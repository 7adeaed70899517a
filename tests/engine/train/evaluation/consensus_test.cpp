// The models of a strategy whose ranks differ, lent to a replica and given back. Started by mpirun with several counts of ranks.
#include "engine/train/evaluation/consensus.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::train;

namespace {

struct Shape {
  bool centre, replicated;
};

class FakeStrategy : public sync::Strategy {
 public:
  explicit FakeStrategy(Shape shape) : shape_(shape) {}
  void start(sync::Replica&) override {}
  double step(sync::Replica&, sync::PhaseClock&) override { return 0; }
  bool replicated() const override { return shape_.replicated; }
  bool has_centre() const override { return shape_.centre; }
  void read_centre(sync::Replica&, std::span<float> centre) override { std::fill(centre.begin(), centre.end(), 77.0F); }

 private:
  Shape shape_;
};

sync::Roles roles_of(const comm::Communicator& comm, bool last_serves)
{
  sync::Roles roles;
  for (int rank = 0; rank < comm.size(); ++rank)
    (last_serves && rank == comm.size() - 1 ? roles.servers : roles.workers).push_back(rank);
  roles.is_server = last_serves && comm.rank() == comm.size() - 1;
  return roles;
}

// Rank r's weights are r + 1.
sync::test::LinearReplica replica_of(const comm::Communicator& comm) { return {static_cast<float>(comm.rank() + 1), 1, {}}; }

bool holds(sync::Replica& replica, float value)
{
  const auto weights = replica.weights();
  return std::all_of(weights.begin(), weights.end(), [&](float weight) { return weight == value; });
}

Model choice(Shape shape, EvaluatedModel wanted)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto replica = replica_of(comm);
  FakeStrategy strategy(shape);
  const auto roles = roles_of(comm, false);
  return Consensus({replica, strategy, roles, comm}, wanted).chosen();
}

} // namespace

TEST_CASE("by itself the centre is evaluated, else the workers' average, else the model that they share")
{
  CHECK(choice({.centre = true, .replicated = false}, EvaluatedModel::automatic) == Model::centre);
  CHECK(choice({.centre = false, .replicated = false}, EvaluatedModel::automatic) == Model::average);
  CHECK(choice({.centre = false, .replicated = true}, EvaluatedModel::automatic) == Model::common);
}

TEST_CASE("a recipe may choose another model, and one that all workers share serves as worker and as average")
{
  CHECK(choice({.centre = true, .replicated = false}, EvaluatedModel::worker) == Model::worker);
  CHECK(choice({.centre = true, .replicated = false}, EvaluatedModel::average) == Model::average);
  CHECK(choice({.centre = false, .replicated = true}, EvaluatedModel::worker) == Model::common);
  CHECK(choice({.centre = false, .replicated = true}, EvaluatedModel::average) == Model::common);
  CHECK(dt::test::refusal(dt::ErrorKind::recipe, [] {
          choice({.centre = false, .replicated = true}, EvaluatedModel::centre);
        }).starts_with("sync.evaluate: centre asks for a model that this strategy does not have."));
}

TEST_CASE("a lent model is on every rank, and afterwards every rank has its own weights, bit for bit")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const bool serves = GENERATE(false, true);
  if (serves && comm.size() == 1) return;
  auto replica = replica_of(comm);
  FakeStrategy strategy({.centre = true, .replicated = false});
  const auto roles = roles_of(comm, serves);
  Consensus consensus({replica, strategy, roles, comm}, EvaluatedModel::automatic);
  CHECK(consensus.models() == std::vector{Model::centre, Model::worker, Model::average});
  const auto workers = static_cast<float>(roles.workers.size());
  for (const auto& [model, value] :
       {std::pair{Model::centre, 77.0F}, std::pair{Model::worker, 1.0F}, std::pair{Model::average, (workers + 1) / 2}}) {
    {
      const Consensus::Loan loan(consensus, model);
      CHECK(holds(replica, value));
    }
    CHECK(holds(replica, static_cast<float>(comm.rank() + 1)));
  }
  CHECK(comm.traffic().bytes == 0);
}

TEST_CASE("a model that all ranks share is not copied, but brought to a server")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto replica = replica_of(comm);
  FakeStrategy strategy({.centre = false, .replicated = true});
  const auto roles = roles_of(comm, comm.size() > 1);
  Consensus consensus({replica, strategy, roles, comm}, EvaluatedModel::automatic);
  CHECK(consensus.models() == std::vector{Model::common});
  const Consensus::Loan loan(consensus, Model::common);
  CHECK(holds(replica, 1));
}
