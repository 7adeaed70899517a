// ChannelView: the memory layout of a batch of activations, as rows of a few adjacent channels.
#pragma once

#include <cstdint>
#include <optional>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {

// Element of channel g * block + l in sample n at place s: offset n * sample_stride + g * group_stride + s * place_stride + l.
struct ChannelView {
  std::int64_t samples = 0, groups = 0, places = 0; // groups x block = channels, with the padding of a blocked layout
  int block = 0;                                    // adjacent channels: 16 or 8
  std::int64_t sample_stride = 0, group_stride = 0, place_stride = 0;
};

// The view for a descriptor with channels in blocks of 16 or 8, or with channels last and a multiple of 16 channels; otherwise
// empty.
std::optional<ChannelView> channel_view(const dnnl::memory::desc& layout);

} // namespace dt::nn
