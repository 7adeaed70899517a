#include "engine/nn/kernels/channel_view.hpp"

namespace dt::nn {
namespace {

constexpr std::int64_t block = 16;

ChannelView view_of(const dnnl_memory_desc_t& layout, int channels, std::int64_t group_stride)
{
  const auto& strides = layout.format_desc.blocking.strides;
  return {.samples = layout.dims[0],
          .groups = layout.padded_dims[1] / channels,
          .places = layout.dims[2] * layout.dims[3],
          .block = channels,
          .sample_stride = strides[0],
          .group_stride = group_stride,
          .place_stride = strides[3]};
}

// Whether the image's rows are contiguous, so that all its places form one row.
bool is_dense(const dnnl_memory_desc_t& layout)
{
  const auto& strides = layout.format_desc.blocking.strides;
  return strides[2] == strides[3] * layout.dims[3];
}

} // namespace

std::optional<ChannelView> channel_view(const dnnl::memory::desc& memory)
{
  const auto& layout = memory.data;
  if (layout.format_kind != dnnl_blocked || !is_dense(layout)) return std::nullopt;
  const auto& blocking = layout.format_desc.blocking;
  if (blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1 && (blocking.inner_blks[0] == 16 || blocking.inner_blks[0] == 8))
    return view_of(layout, static_cast<int>(blocking.inner_blks[0]), blocking.strides[1]);
  if (blocking.inner_nblks == 0 && blocking.strides[1] == 1 && layout.dims[1] % block == 0) return view_of(layout, block, block);
  return std::nullopt;
}

} // namespace dt::nn
