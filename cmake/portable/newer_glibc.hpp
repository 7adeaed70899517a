// What our sources use of glibc and glibc 2.31 does not have. Portable builds include this before each source
// (cmake/portable.cmake).
#pragma once

#include <sys/syscall.h>

#ifndef SYS_close_range // Linux 5.9; glibc 2.32
#define SYS_close_range __NR_close_range
#endif

extern "C" {
const char* sigabbrev_np(int signal) noexcept; // 2.32: "TERM"
const char* sigdescr_np(int signal) noexcept;  // 2.32: "Terminated"
}
