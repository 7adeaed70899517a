#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"
#include <cstdio>
#include <cstdlib>
#include <vector>
using namespace dt;
int main(int, char** a)
{
  const int ranks = atoi(a[1]); const std::size_t length = atol(a[2])/4; const double L = atof(a[3])*1e-6;
  sim::simulate({.platform = {.nodes = ranks, .bandwidth=a[5]?atof(a[5]):1.25e9, .latency_s=L}}, [&](comm::Communicator& comm) {
      const auto allreduce = comm::make_allreduce({.algorithm = a[4]}, comm);
      double alone=0;
      for (const double late_s : {0., 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2}) {
  comm::Floats values(length);
  comm.barrier();
  std::vector<double> times{-comm::monotonic_s(), 0};
  comm::pause_s(late_s * static_cast<double>(comm.rank() * 7 % ranks) / (ranks - 1));
  allreduce->sum(values);
  times[1] = comm::monotonic_s();
  for (auto& time : times) comm.max_record({&time, 1});
  double t=times[0]+times[1]; if(late_s==0) alone=t;
  if (comm.is_root()) std::printf("late %.1fus: %.1f us (excess over alone+late %.1f%%)\n", late_s*1e6, t*1e6, 100*((t-late_s)/alone-1));
      }
  });
}
