// Gradients summed over two levels while they are computed, with two blocks under way when a neighbour comes late.
#include "engine/comm/allreduce/hierarchical.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "tests/engine/comm/late_neighbour.hpp"
#include "tests/engine/sync/many_tensors.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;
using namespace dt::comm::test;
using namespace dt::sync::test;

namespace {

// Arms the pause when the sums of three tensors are under way.
class Counter : public GradientListener {
 public:
  Counter(GradientListener* sums, LateNeighbour& late) : sums_(sums), late_(late) {}
  void gradients_ready(Range tensor) override
  {
    if (++tensors_ == 3) late_.arm();
    sums_->gradients_ready(tensor);
  }

 private:
  GradientListener* sums_;
  LateNeighbour& late_;
  int tensors_ = 0;
};

// Rank 1 computes nothing before rank 0 has sums of several tensors under way.
class LateReplica : public ManyTensors {
 public:
  LateReplica(comm::Communicator& comm, LateNeighbour& late) : ManyTensors(comm.rank()), late_(late), is_late_(comm.rank() == 1)
  {
  }
  using ManyTensors::compute;
  BatchLoss compute(GradientListener* listener) override
  {
    if (is_late_) late_.wait_for_pause();
    Counter counter(listener, late_);
    const auto loss = ManyTensors::compute(&counter);
    if (is_late_) late_.end_pause();
    return loss;
  }

 private:
  LateNeighbour& late_;
  bool is_late_;
};

// One step of what hsgd is made of; a sum for each tensor.
std::vector<float> step(ManyTensors& replica, dt::ProgressMode progress, std::function<void(std::int64_t)> found_incomplete,
                        comm::Communicator& comm)
{
  dt::RunSpec spec;
  spec.sync = {.strategy = "hsgd", .pack = false, .progress = progress};
  auto parts = make_parts(spec, comm, {});
  parts.topology = two_nodes_of_two();
  comm::HierarchicalAllreduce allreduce({.topology = parts.topology, .found_incomplete = std::move(found_incomplete)}, comm);
  GradientSums sums(parts, allreduce);
  Diary diary;
  sums.update(sums.compute(replica, diary), replica, diary);
  return {replica.weights().begin(), replica.weights().end()};
}

} // namespace

TEST_CASE("gradients of two levels are summed in order when a later bucket is found complete before an earlier one")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 4) return;
  ManyTensors in_order(comm.rank());
  const auto expected = step(in_order, dt::ProgressMode::none, {}, comm);
  LateNeighbour late(comm);
  LateReplica replica(comm, late);
  CHECK(step(replica, dt::ProgressMode::poll, late.found_incomplete(), comm) == expected);
  CHECK(late.has_paused() == (comm.rank() == 0));
}
