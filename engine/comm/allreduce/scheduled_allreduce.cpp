#include "engine/comm/allreduce/scheduled_allreduce.hpp"

#include "engine/comm/allreduce/schedules/halving_doubling.hpp"
#include "engine/comm/allreduce/schedules/ring.hpp"
#include "engine/comm/allreduce/schedules/topology_aware.hpp"
#include "engine/comm/allreduce/schedules/tree.hpp"

namespace dt::comm {
namespace {

Schedule ring(const Seat& seat, const Topology&) { return ring_schedule(seat); }
Schedule halving_doubling(const Seat& seat, const Topology&) { return halving_doubling_schedule(seat); }
Schedule tree(const Seat& seat, const Topology&) { return tree_schedule(seat); }

} // namespace

ScheduledAllreduce::ScheduledAllreduce(MakeSchedule make_schedule, const AllreduceOptions& options, Communicator& comm,
                                       std::size_t chunk_length, Travel travel)
    : make_schedule_(make_schedule), topology_(options.topology), wire_(options.wire), comm_(comm), chunk_length_(chunk_length),
      travel_(travel)
{
}

// A sum in progress that borrows its buffers and returns them for the next sum.
class ScheduledAllreduce::Lent : public PendingSum {
 public:
  Lent(ScheduledAllreduce& home, std::unique_ptr<SumBuffers> buffers, const Parcels& parcels, std::span<float> values)
      : home_(home), buffers_(std::move(buffers)),
        sum_(home.comm_, parcels, home.limits_for(values.size()), home.wire_, *buffers_, values)
  {
    home_.under_way_.push_back(this);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() override
  {
    std::erase(home_.under_way_, this);
    home_.buffers_.push_back(std::move(buffers_));
  }
  bool advance() override { return sum_.advance(); }
  // Another rank may be waiting for an earlier sum that needs this rank. So all ranks complete sums in the order of begin().
  void wait() override
  {
    for (auto* lent : home_.under_way_) {
      lent->sum_.wait();
      if (lent == this) return;
    }
  }

 private:
  ScheduledAllreduce& home_;
  std::unique_ptr<SumBuffers> buffers_;
  ScheduledSum sum_;
};

void ScheduledAllreduce::sum(std::span<float> values) { begin(values)->wait(); }

std::unique_ptr<PendingSum> ScheduledAllreduce::begin(std::span<float> values)
{
  const auto& parcels = parcels_for(values.size());
  if (buffers_.empty()) buffers_.push_back(std::make_unique<SumBuffers>());
  auto buffers = std::move(buffers_.back());
  buffers_.pop_back();
  return std::make_unique<Lent>(*this, std::move(buffers), parcels, values);
}

const Parcels& ScheduledAllreduce::parcels_for(std::size_t length)
{
  const auto found = parcels_.find(length);
  if (found != parcels_.end()) return found->second;
  const auto schedule = make_schedule_({comm_.rank(), comm_.size(), length}, topology_);
  return parcels_.emplace(length, cut_into_parcels(schedule, limits_for(length).chunk_length)).first->second;
}

std::unique_ptr<Allreduce> make_ring(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(ring, options, comm);
}

std::unique_ptr<Allreduce> make_halving_doubling(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(halving_doubling, options, comm, 0, Travel::slices_in_turn);
}

std::unique_ptr<Allreduce> make_tree(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(tree, options, comm, 0, Travel::passed_vector);
}

std::unique_ptr<Allreduce> make_topology_aware(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<ScheduledAllreduce>(topology_aware_schedule, options, comm, 0, Travel::slices_in_turn);
}

} // namespace dt::comm
