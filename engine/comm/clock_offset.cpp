#include "engine/comm/clock_offset.hpp"

namespace dt::comm {
namespace {

constexpr int exchanges = 32, tag = 2;

void send(double value, int to, Communicator& comm)
{
  check_mpi(MPI_Send(&value, 1, MPI_DOUBLE, to, tag, comm.handle()), "MPI_Send");
}

double receive(int from, Communicator& comm)
{
  double value = 0;
  check_mpi(MPI_Recv(&value, 1, MPI_DOUBLE, from, tag, comm.handle(), MPI_STATUS_IGNORE), "MPI_Recv");
  return value;
}

void answer(int rank, Communicator& comm, const std::function<double()>& now)
{
  for (int i = 0; i < exchanges; ++i) {
    receive(rank, comm);
    send(now(), rank, comm);
  }
}

ClockOffset ask(Communicator& comm, const std::function<double()>& now)
{
  ClockOffset best;
  for (int i = 0; i < exchanges; ++i) {
    const double asked = now();
    send(asked, 0, comm);
    const double root = receive(0, comm), answered = now();
    // Rank 0's clock showed `root` at some moment between `asked` and `answered`.
    const double middle = (asked + answered) / 2, error = (answered - asked) / 2;
    if (i == 0 || error < best.error_s) best = {.local_s = middle, .ahead_s = middle - root, .error_s = error};
  }
  return best;
}

} // namespace

ClockOffset measure_clock_offset(Communicator& comm, const std::function<double()>& now)
{
  if (!comm.is_root()) return ask(comm, now);
  for (int rank = 1; rank < comm.size(); ++rank) answer(rank, comm, now);
  return {.local_s = now(), .ahead_s = 0, .error_s = 0};
}

} // namespace dt::comm
