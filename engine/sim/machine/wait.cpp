// Waiting in a simulation: completed sends are taken off the simulator's hands as early as possible.
#include "engine/comm/machine/wait.hpp"

#include <array>

namespace dt::comm {

// SimGrid keeps all messages of a rank that were not waited for in one list, which it searches whenever the rank waits for
// another one. A ring of 1,024 ranks would leave 2,046 sends in it. MPI_Waitany takes no simulated time; MPI_Test would, and
// leaves the message in the list.
std::size_t wait_beside(Transfer& awaited, std::span<Transfer> earlier)
{
  for (std::size_t complete = 0; complete < earlier.size();) {
    std::array requests{*earlier[complete].request(), *awaited.request()};
    int first = 0;
    MPI_Status status;
    check_mpi(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &first, &status), "MPI_Waitany");
    auto& transfer = first == 0 ? earlier[complete] : awaited;
    transfer.found_complete(status);
    if (first != 0) return complete;
    ++complete;
  }
  awaited.wait();
  return earlier.size();
}

} // namespace dt::comm
