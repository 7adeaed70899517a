// floats_of: the numbers of a memory, for our own kernels.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {

// The first float of the memory; null if the memory is empty.
inline float* floats_of(const dnnl::memory& memory)
{
  return memory.get(true) == nullptr ? nullptr : static_cast<float*>(memory.get_data_handle());
}

} // namespace dt::nn
