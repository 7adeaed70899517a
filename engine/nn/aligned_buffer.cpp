#include "engine/nn/aligned_buffer.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dt::engine {

namespace {

void zero(char* data, std::int64_t bytes)
{
  constexpr std::int64_t chunk = 1 << 20;
#pragma omp parallel for schedule(static) if (bytes > chunk)
  for (std::int64_t begin = 0; begin < bytes; begin += chunk)
    std::memset(data + begin, 0, static_cast<std::size_t>(std::min(chunk, bytes - begin)));
}

} // namespace

AlignedBuffer::AlignedBuffer(std::int64_t bytes) : bytes_(bytes)
{
  if (bytes == 0) return;
  const auto rounded = (bytes + buffer_alignment_bytes - 1) / buffer_alignment_bytes * buffer_alignment_bytes;
  data_.reset(std::aligned_alloc(buffer_alignment_bytes, static_cast<std::size_t>(rounded)));
  if (!data_) {
    throw Error(ErrorKind::environment, "The network needs one more buffer of " + format_bytes(static_cast<double>(bytes)) +
                                            ", and there is not enough memory. Use a smaller batch or more memory.");
  }
  zero(static_cast<char*>(data_.get()), rounded);
}

void AlignedBuffer::Free::operator()(void* data) const { std::free(data); }

} // namespace dt::engine
