// Preloaded into ranks (LD_PRELOAD): a step that takes as long as a test wants. See held_ranks.hpp.
//
// While the file $DTCTL_TEST_HOLD exists, the thread that asks MPI to move anything waits, and each rank so held leaves the file
// $DTCTL_TEST_HOLD.<pid>. The file holds a number: so many of these calls are let through first, counted from the rank's first
// look at the signals on (only this look calls MPI_Iallreduce, and the first one comes after the first step).
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <mpi.h>

namespace {

// Calls since the first look; -1 before it.
std::atomic<long> calls{-1};

bool is_held(const char* file, long call)
{
  std::ifstream stream(file);
  long after = 0;
  return stream && (stream >> after ? call >= after : true);
}

void hold()
{
  static const char* file = std::getenv("DTCTL_TEST_HOLD");
  const long call = calls < 0 ? -1 : ++calls;
  if (file == nullptr || !is_held(file, call)) return;
  const auto mark = std::string(file) + "." + std::to_string(::getpid());
  ::close(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  while (is_held(file, call)) ::usleep(20'000);
  ::unlink(mark.c_str());
}

// The real function: the library is preloaded into programs that know no MPI, so it is not linked with it.
template<class Function> Function real(const char* name, Function)
{
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
  hold();
  return real("MPI_Isend", &MPI_Isend)(data, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  hold();
  return real("MPI_Allreduce", &MPI_Allreduce)(from, to, count, type, op, comm);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (calls < 0) calls = 0;
  hold();
  return real("MPI_Iallreduce", &MPI_Iallreduce)(from, to, count, type, op, comm, request);
}
}
