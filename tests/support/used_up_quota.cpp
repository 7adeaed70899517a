// Preloaded into dtctl (LD_PRELOAD): a full disk reports a used-up quota, which kernels without quotas cannot.
#include <cerrno>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

namespace {

template<class Function> Function* next(const char* name) { return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name)); }

template<class Result> Result with_quota(Result result)
{
  if (result < 0 && errno == ENOSPC) errno = EDQUOT;
  return result;
}

} // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count)
{
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return with_quota(real(file, bytes, count));
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset)
{
  static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return with_quota(real(file, bytes, count, offset));
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

int posix_fallocate(int file, off_t offset, off_t length)
{
  static auto* const real = next<int(int, off_t, off_t)>("posix_fallocate");
  const int error = real(file, offset, length);
  return error == ENOSPC ? EDQUOT : error;
}

} // extern "C"
