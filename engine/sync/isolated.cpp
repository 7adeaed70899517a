#include "engine/sync/isolated.hpp"

#include "engine/comm/clock.hpp"

#include <algorithm>
#include <array>

namespace dt::engine {

double measure_isolated_s(Communicator& comm, const std::function<void()>& exchange)
{
  const Traffic before = comm.traffic();
  std::array<double, 5> times{};
  exchange(); // connections and buffers are made
  for (auto& time : times) {
    comm.barrier();
    const double begin_s = monotonic_s();
    exchange();
    time = monotonic_s() - begin_s;
  }
  comm.traffic() = before;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double measure_isolated_sums_s(Communicator& comm, Allreduce& allreduce, std::span<const Stretch> stretches, std::size_t floats)
{
  std::vector<float> own(floats);
  return measure_isolated_s(comm, [&] {
    for (const auto& stretch : stretches) allreduce.sum(std::span(own).subspan(stretch.offset, stretch.size));
  });
}

} // namespace dt::engine
