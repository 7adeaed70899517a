// Declarations that the headers of glibc 2.31 do not have, and that our sources use. In portable builds, the compiler includes
// this file before each source (cmake/portable.cmake).
#pragma once

#include <sys/syscall.h>

#ifndef SYS_close_range // Linux 5.9; glibc 2.32
#define SYS_close_range __NR_close_range
#endif

extern "C" {
const char* sigabbrev_np(int signal) noexcept; // 2.32: "TERM"
const char* sigdescr_np(int signal) noexcept;  // 2.32: "Terminated"
}
