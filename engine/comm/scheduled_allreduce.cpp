#include "engine/comm/scheduled_allreduce.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/comm/halving_doubling.hpp"
#include "engine/comm/ring.hpp"
#include "engine/comm/topology_aware.hpp"
#include "engine/comm/tree.hpp"

namespace dt::engine {
namespace {

Wire wire_of(const std::string& name)
{
  if (name == "float32") return Wire::float32;
  if (name == "bfloat16") return Wire::bfloat16;
  throw Error(ErrorKind::recipe, "There is no wire format `" + printable(name) + "`; there are: float32, bfloat16.");
}

Schedule ring(const Seat& seat, const Topology&) { return ring_schedule(seat); }
Schedule halving_doubling(const Seat& seat, const Topology&) { return halving_doubling_schedule(seat); }
Schedule tree(const Seat& seat, const Topology&) { return tree_schedule(seat); }

// Gives its buffers back, so that a later sum finds them warm.
class LentSum : public PendingSum {
 public:
  LentSum(std::vector<std::unique_ptr<SumBuffers>>& home, std::unique_ptr<SumBuffers> buffers, Communicator& comm,
          const Parcels& parcels, std::size_t chunk_length, Wire wire, std::span<float> values)
      : home_(home), buffers_(std::move(buffers)), sum_(comm, parcels, chunk_length, wire, *buffers_, values)
  {
  }
  LentSum(const LentSum&) = delete;
  LentSum& operator=(const LentSum&) = delete;
  ~LentSum() override { home_.push_back(std::move(buffers_)); }
  bool advance() override { return sum_.advance(); }
  void wait() override { sum_.wait(); }

 private:
  std::vector<std::unique_ptr<SumBuffers>>& home_;
  std::unique_ptr<SumBuffers> buffers_;
  ScheduledSum sum_;
};

} // namespace

ScheduledAllreduce::ScheduledAllreduce(MakeSchedule make_schedule, const AllreduceOptions& options, Communicator& comm,
                                       std::size_t chunk_length)
    : make_schedule_(make_schedule), topology_(options.topology), wire_(wire_of(options.wire)), comm_(comm),
      chunk_length_(chunk_length)
{
}

void ScheduledAllreduce::sum(std::span<float> values) { begin(values)->wait(); }

std::unique_ptr<PendingSum> ScheduledAllreduce::begin(std::span<float> values)
{
  const auto& parcels = parcels_for(values.size());
  if (buffers_.empty()) buffers_.push_back(std::make_unique<SumBuffers>());
  auto buffers = std::move(buffers_.back());
  buffers_.pop_back();
  return std::make_unique<LentSum>(buffers_, std::move(buffers), comm_, parcels, chunk_length_, wire_, values);
}

const Parcels& ScheduledAllreduce::parcels_for(std::size_t length)
{
  const auto found = parcels_.find(length);
  if (found != parcels_.end()) return found->second;
  const auto schedule = make_schedule_({comm_.rank(), comm_.size(), length}, topology_);
  return parcels_.emplace(length, cut_into_parcels(schedule, chunk_length_)).first->second;
}

std::unique_ptr<Allreduce> make_ring(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(ring, options, comm);
}

std::unique_ptr<Allreduce> make_halving_doubling(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(halving_doubling, options, comm);
}

std::unique_ptr<Allreduce> make_tree(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(tree, options, comm);
}

std::unique_ptr<Allreduce> make_topology_aware(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(topology_aware_schedule, options, comm);
}

} // namespace dt::engine
