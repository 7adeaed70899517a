// Preloaded into ranks (LD_PRELOAD): plants a cause of lost efficiency into a training with modelled passes
// (train.modelled_rate).
//
// $DTCTL_TEST_CAUSE is what changes if there are several ranks:
//   imbalance      rank 1's passes take 1.4 times as long
//   jitter         in every step another rank's pass takes 1.4 times as long
//   contention     all passes take 1.4 times as long
//   superlinear    all passes take 0.7 times as long
//   input          each read of a packed file takes 40 ms longer
//   communication  the first MPI_Allreduce after a pass takes 40 ms longer
// It ends with pass number $DTCTL_TEST_PASSES of a rank, so that what a rank measures after its last step is left alone.
//
// A modelled pass ends with a long sleep of the rank's first thread; no other sleep of that thread lasts a hundredth of a second.
// Each sleep is counted, so a pass should be one sleep (progress: none).
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string_view>

#include <dlfcn.h>
#include <unistd.h>

namespace {

constexpr double shortest_pass_s = 0.01, delay_s = 0.04;

long number_of(const char* variable, long otherwise)
{
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atol(text);
}

bool is_planted(std::string_view cause)
{
  static const long ranks = number_of("OMPI_COMM_WORLD_SIZE", 1);
  const char* planted = std::getenv("DTCTL_TEST_CAUSE");
  return ranks > 1 && planted != nullptr && planted == cause;
}

// The time of the rank's pass, as a multiple of the modelled time.
double length_of(long pass)
{
  static const long rank = number_of("OMPI_COMM_WORLD_RANK", 0), ranks = number_of("OMPI_COMM_WORLD_SIZE", 1);
  const bool is_slow =
      is_planted("contention") || (is_planted("imbalance") && rank == 1) || (is_planted("jitter") && pass % ranks == rank);
  return is_slow ? 1.4 : is_planted("superlinear") ? 0.7 : 1;
}

bool is_first_thread() { return ::getpid() == ::gettid(); }

// The real function: the library is preloaded into programs that know no MPI, so it is not linked with it.
template<class Function> Function real(const char* name) { return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name)); }

using Sleep = int (*)(const timespec*, timespec*);

void sleep_longer(double seconds)
{
  const double whole = std::floor(seconds);
  const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  real<Sleep>("nanosleep")(&time, nullptr);
}

bool computed = false; // since the last step's allreduce, by the first thread

} // namespace

extern "C" {

int nanosleep(const timespec* time, timespec* rest)
{
  static long passes = 0; // of the first thread only
  static const long last = number_of("DTCTL_TEST_PASSES", std::numeric_limits<long>::max());
  const double seconds = static_cast<double>(time->tv_sec) + 1e-9 * static_cast<double>(time->tv_nsec);
  if (seconds < shortest_pass_s || !is_first_thread() || passes >= last) return real<Sleep>("nanosleep")(time, rest);
  computed = true;
  sleep_longer(seconds * length_of(passes++));
  return 0;
}

ssize_t pread(int file, void* bytes, size_t count, off_t offset)
{
  if (is_first_thread() && is_planted("input")) sleep_longer(delay_s);
  return real<ssize_t (*)(int, void*, size_t, off_t)>("pread")(file, bytes, count, offset);
}

// MPI's types are pointers (Open MPI).
int MPI_Allreduce(const void* from, void* to, int count, void* type, void* op, void* comm)
{
  if (computed && is_first_thread() && is_planted("communication")) sleep_longer(delay_s);
  computed = false;
  return real<int (*)(const void*, void*, int, void*, void*, void*)>("MPI_Allreduce")(from, to, count, type, op, comm);
}
}
