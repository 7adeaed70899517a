// The allreduces that follow a schedule: ring, halving-doubling, tree, topology-aware.
#pragma once

#include "engine/comm/allreduce/scheduled_sum.hpp"
#include "engine/comm/machine/message.hpp"

#include <map>

namespace dt::comm {

class ScheduledAllreduce : public Allreduce {
 public:
  using MakeSchedule = Schedule (*)(const Seat&, const Topology&);
  // chunk_length: chunk size of messages, in numbers; 0: the one that suits the machine, the vector and `travel`.
  ScheduledAllreduce(MakeSchedule make_schedule, const AllreduceOptions& options, Communicator& comm,
                     std::size_t chunk_length = 0, Travel travel = Travel::passed_slices);
  using Allreduce::sum;
  void sum(std::span<float> values) override;
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

 private:
  class Lent;
  const Parcels& parcels_for(std::size_t length);
  MessageLimits limits_for(std::size_t length) const
  {
    auto limits = usual_limits(length, static_cast<std::size_t>(comm_.size()), travel_);
    if (chunk_length_ > 0) limits.chunk_length = chunk_length_;
    return limits;
  }

  MakeSchedule make_schedule_;
  Topology topology_;
  Wire wire_;
  Communicator& comm_;
  std::size_t chunk_length_;
  Travel travel_;
  std::map<std::size_t, Parcels> parcels_;           // by length; a run uses only a few lengths
  std::vector<std::unique_ptr<SumBuffers>> buffers_; // buffers that no sum uses at present
  std::vector<Lent*> under_way_;                     // in the order of begin()
};

std::unique_ptr<Allreduce> make_ring(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_halving_doubling(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_tree(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_topology_aware(const AllreduceOptions& options, Communicator& comm);

} // namespace dt::comm
