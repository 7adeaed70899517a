// The allreduces that are schedules: ring, halving-doubling, tree, topology-aware.
#pragma once

#include "engine/comm/scheduled_sum.hpp"

#include <map>

namespace dt::engine {

class ScheduledAllreduce : public Allreduce {
 public:
  using MakeSchedule = Schedule (*)(const Seat&, const Topology&);
  // chunk_length: of messages, in numbers. A recipe error for a wire format other than float32 and bfloat16.
  ScheduledAllreduce(MakeSchedule make_schedule, const AllreduceOptions& options, Communicator& comm,
                     std::size_t chunk_length = usual_chunk_length);
  using Allreduce::sum;
  void sum(std::span<float> values) override;
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

  // 60 KiB: Open MPI sends so much over TCP at once, and asks the receiver first when it is more than 64 KiB with its header.
  static constexpr std::size_t usual_chunk_length = 15 * 1024;

 private:
  class Lent;
  const Parcels& parcels_for(std::size_t length);

  MakeSchedule make_schedule_;
  Topology topology_;
  Wire wire_;
  Communicator& comm_;
  std::size_t chunk_length_;
  std::map<std::size_t, Parcels> parcels_;           // by length: a run sums few different ones, again and again
  std::vector<std::unique_ptr<SumBuffers>> buffers_; // not in use by a sum
  std::vector<Lent*> under_way_;                     // in the order of their begin
};

std::unique_ptr<Allreduce> make_ring(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_halving_doubling(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_tree(const AllreduceOptions& options, Communicator& comm);
std::unique_ptr<Allreduce> make_topology_aware(const AllreduceOptions& options, Communicator& comm);

} // namespace dt::engine
