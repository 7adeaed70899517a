// ChannelView: how a batch of activations lies in memory, as rows of a few channels side by side.
#pragma once

#include <cstdint>
#include <optional>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

// Channel g * lanes + l of sample n at place s is at n * sample_stride + g * group_stride + s * place_stride + l.
struct ChannelView {
  std::int64_t samples = 0, groups = 0, places = 0; // groups x lanes: channels, padding of a blocked layout included
  int lanes = 0;                                    // 16 or 8
  std::int64_t sample_stride = 0, group_stride = 0, place_stride = 0;
};

// Of a descriptor with channels in blocks of 16 or 8, or with channels last and in whole sixteens; else nothing.
std::optional<ChannelView> channel_view(const dnnl::memory::desc& layout);

} // namespace dt::engine
