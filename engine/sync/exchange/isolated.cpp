#include "engine/sync/exchange/isolated.hpp"

#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"

#include <algorithm>
#include <array>

namespace dt::sync {

double measure_isolated_s(comm::Communicator& comm, const std::function<void()>& exchange)
{
  const comm::Traffic before = comm.traffic();
  std::array<double, 5> times{};
  exchange(); // warm-up: connections and buffers are created
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
                               std::size_t floats)
{
  comm::Floats own(floats);
  return measure_isolated_s(comm, [&] {
    for (const auto& range : ranges) allreduce.sum(values_at(std::span(own), range));
  });
}

} // namespace dt::sync
