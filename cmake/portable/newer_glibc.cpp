// Functions and variables that glibc 2.31 does not have, and that our sources or Debian 12's static libstdc++ use. Only portable
// builds link this file (cmake/portable.cmake).
#include "cmake/portable/newer_glibc.hpp"

#include <csignal>
#include <cstdint>

#include <sys/random.h>

extern "C" {

// glibc 2.32. libstdc++ leaves out atomic operations while this is true; false is always correct.
char __libc_single_threaded = 0;

// glibc 2.36. std::random_device takes it in place of /dev/urandom.
std::uint32_t arc4random()
{
  std::uint32_t word = 0;
  while (getentropy(&word, sizeof word) != 0) {
  }
  return word;
}

// glibc's own tables. Newer ones keep them for programs that were linked with an older one.
extern const char* const sys_sigabbrev[NSIG];

const char* sigabbrev_np(int signal) noexcept { return signal > 0 && signal < NSIG ? sys_sigabbrev[signal] : nullptr; }

const char* sigdescr_np(int signal) noexcept { return signal > 0 && signal < NSIG ? sys_siglist[signal] : nullptr; }
}
