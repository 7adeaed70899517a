// Waiting in a simulation: completed sends are taken off the simulator's hands as early as possible.
#include "engine/comm/machine/ranks/wait.hpp"

#include "engine/sim/machine/rank_time.hpp"

#include <array>

namespace dt::comm {

// SimGrid keeps all messages of a rank that were not waited for in one list, which it searches whenever the rank waits for
// another one. A ring of 1,024 ranks would leave 2,046 sends in it. MPI_Waitany takes no simulated time; MPI_Test would, and
// leaves the message in the list.
bool wait_beside(Transfer& awaited, Transfer* send)
{
  if (send == nullptr) {
    awaited.wait();
    return true;
  }
  std::array requests{*awaited.request(), *send->request()};
  int first = 0;
  MPI_Status status;
  check_mpi(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &first, &status), "MPI_Waitany");
  (first == 0 ? awaited : *send).found_complete(status);
  return first == 0;
}

void wait_until_s(double end_s) { sim::wait_s(end_s - sim::thread_clock_s()); }

} // namespace dt::comm
