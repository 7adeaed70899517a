// Preloaded into ranks (LD_PRELOAD): in every step, another of the ranks 1 to P-1 takes twice as long for its modelled pass
// (train.modelled_rate), so that all of them are slow equally often.
//
// A modelled pass ends with a long sleep of the rank's first thread; no other sleep of that thread lasts a hundredth of a second.
// Each sleep is counted, so a pass should be one sleep (progress: none).
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <unistd.h>

namespace {

constexpr double shortest_pass_s = 0.01;

int number_of(const char* variable)
{
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

bool is_slow(long pass)
{
  static const int rank = number_of("OMPI_COMM_WORLD_RANK"), ranks = number_of("OMPI_COMM_WORLD_SIZE");
  return ranks > 1 && rank == 1 + pass % (ranks - 1);
}

} // namespace

extern "C" int nanosleep(const timespec* time, timespec* rest)
{
  static long passes = 0; // of the first thread only
  static const auto real = reinterpret_cast<int (*)(const timespec*, timespec*)>(::dlsym(RTLD_NEXT, "nanosleep"));
  const double seconds = static_cast<double>(time->tv_sec) + 1e-9 * static_cast<double>(time->tv_nsec);
  if (seconds >= shortest_pass_s && ::getpid() == ::gettid() && is_slow(passes++)) real(time, rest);
  return real(time, rest);
}
