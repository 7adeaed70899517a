#include "engine/nn/aligned_buffer.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <cstdlib>
#include <cstring>

namespace dt::engine {

AlignedBuffer::AlignedBuffer(std::int64_t bytes) : bytes_(bytes)
{
  if (bytes == 0) return;
  const auto rounded = (bytes + buffer_alignment_bytes - 1) / buffer_alignment_bytes * buffer_alignment_bytes;
  data_.reset(std::aligned_alloc(buffer_alignment_bytes, static_cast<std::size_t>(rounded)));
  if (!data_) {
    throw Error(ErrorKind::environment, "The network needs one more buffer of " + format_bytes(static_cast<double>(bytes)) +
                                            ", and there is not enough memory. Use a smaller batch or more memory.");
  }
  std::memset(data_.get(), 0, static_cast<std::size_t>(rounded));
}

void AlignedBuffer::Free::operator()(void* data) const { std::free(data); }

} // namespace dt::engine
