// The memory layout of the layers in image lanes (lane_*), and the operations that bring a tensor into it.
#pragma once

#include "engine/nn/kernels/floats_of.hpp"
#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/plan/plan.hpp"

namespace dt::nn {

// Descriptor of a batch in image lanes. oneDNN's reorders know it too, and fill empty lanes with zeros.
dnnl::memory::desc lane_layout(const Plan& plan, const Shape& shape);

// data(tensor) in image lanes with a border of zeros, after operations that are appended to `operations`.
dnnl::memory in_lanes(Plan& plan, Tensor tensor, std::int64_t border, const std::string& layer,
                      std::vector<Operation>& operations);

// sums[c] += sum over all pixels of channel c of one group of images: its part of the gradient of a bias.
void add_plane_sums(const float* gradients, std::int64_t channels, std::int64_t plane, float* sums);

} // namespace dt::nn
