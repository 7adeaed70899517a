#include "engine/sync/exchange/isolated.hpp"

#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/sync/exchange/exchanges.hpp"

#include <algorithm>
#include <vector>

namespace dt::sync {

double measure_isolated_s(comm::Communicator& comm, const std::function<void()>& exchange)
{
  const comm::Traffic before = comm.traffic();
  const auto repeats = comm::timing_repeats();
  for (int call = 0; call < repeats.warm_up; ++call) exchange();
  std::vector<double> times(static_cast<std::size_t>(repeats.timed));
  for (auto& time : times) {
    comm.barrier();
    const double begin_s = comm::monotonic_s();
    exchange();
    time = comm::monotonic_s() - begin_s;
  }
  comm.traffic() = before;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double measure_isolated_sums_s(comm::Communicator& comm, comm::Allreduce& allreduce, std::span<const Range> ranges,
                               Replica& replica)
{
  const auto gradients = gradients_of(replica);
  comm::Floats own(gradients.can_sum_on_device() ? 0 : gradients.size());
  const Vector summed = own.empty() ? gradients : Vector(own);
  return measure_isolated_s(comm, [&] {
    for (const auto& range : ranges) sum_over_ranks(allreduce, comm, values_at(summed, range));
    if (own.empty()) values_at(summed, {0, 1}).read(); // which waits for the device
  });
}

} // namespace dt::sync
