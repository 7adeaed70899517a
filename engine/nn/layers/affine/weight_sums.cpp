#include "engine/nn/layers/affine/weight_sums.hpp"

#include "engine/nn/kernels/parts.hpp"
#include "engine/nn/kernels/place_products.hpp"
#include "engine/nn/kernels/processor.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t strip_bytes = 26 << 10; // of a first-level cache of 32 KiB: what the tiles of a strip read
constexpr std::int64_t own_bytes = 256 << 10;  // of a core's own cache: all weights
constexpr std::int64_t shared_bytes = 8 << 20; // of the cache that cores share: images and gradients of a slice

// [0, count) as consecutive ranges of equal size, each of at most `most` numbers (at least 1).
std::vector<BasicRange<std::int64_t>> divided(std::int64_t count, std::int64_t most)
{
  std::vector<BasicRange<std::int64_t>> ranges;
  for_parts(count, std::max<std::int64_t>(most, 1), [&](std::int64_t begin, std::int64_t size) {
    ranges.push_back({begin, begin + size});
  });
  return ranges;
}

} // namespace

bool WeightSums::supports(const ConvolutionSpec& spec, std::int64_t input_channels, bool reads_images)
{
  const bool has_inputs = reads_images ? input_channels <= most_place_scalars : input_channels % place_channels == 0;
  return best_instruction_set() == InstructionSet::avx2 && spec.kernel > 1 && spec.groups == 1 &&
         spec.channels % place_channels == 0 && has_inputs;
}

WeightSums::WeightSums(const ConvolutionSpec& spec, const Shape& input, const Shape& output, std::int64_t batch, int threads)
    : spec_(spec), input_(input), output_(output), in_planes_(input.channels % place_channels != 0),
      input_block_channels_(in_planes_ ? input.channels : place_channels), input_blocks_(input.channels / input_block_channels_),
      weights_(output.channels * input.channels * spec.kernel * spec.kernel)
{
  constexpr std::int64_t float_bytes = sizeof(float), most_parts = 16;
  const auto place_bytes = float_bytes * (most_place_blocks * place_channels + spec.stride * spec.stride * input_block_channels_);
  const auto places = strip_bytes / place_bytes, in_image = output.height * output.width;
  for (const auto& images : divided(batch, places / in_image))
    for (const auto& rows : divided(output.height, places / output.width)) strips_.push_back({images, rows});
  parts_ = weights_ * float_bytes > own_bytes ? 1 : std::min(most_parts, std::ssize(strips_));
  const auto bytes = batch * float_bytes * (input.size() + output.size());
  slices_ = parts_ > 1 ? 1 : std::min(divided_up(bytes, shared_bytes), std::ssize(strips_));

  // Blocks of inputs that follow each other use the gradient in the first-level cache again, but all threads are to have work.
  constexpr std::int64_t most_inputs = 4, tasks_per_thread = 3;
  const auto outputs = divided(output.channels / place_channels, most_place_blocks);
  auto inputs = parts_ > 1 ? input_blocks_ : most_inputs;
  const auto number = [&] { return parts_ * std::ssize(outputs) * divided_up(input_blocks_, inputs); };
  while (inputs > 1 && number() < tasks_per_thread * threads) inputs /= 2;
  for (std::int64_t part = 0; part < parts_; ++part)
    for (const auto& output_range : outputs)
      for (const auto& input_range : divided(input_blocks_, inputs)) tasks_.push_back({part, output_range, input_range});
}

Tag WeightSums::images_layout() const { return in_planes_ ? Tag::nchw : Tag::nChw8c; }
Tag WeightSums::gradient_layout() const { return Tag::nChw8c; }
Tag WeightSums::weights_layout() const { return in_planes_ ? Tag::Ohwi8o : Tag::OIhw8i8o; }

std::int64_t WeightSums::weight_offset(std::int64_t output_block, std::int64_t input_block, std::int64_t row) const
{
  return ((output_block * input_blocks_ + input_block) * spec_.kernel + row) * spec_.kernel * input_block_channels_ *
         place_channels;
}

void WeightSums::run(const float* images, const float* gradient, float* buffer, float* weight_gradient) const
{
  float* sums = parts_ > 1 ? buffer : weight_gradient;
#pragma omp parallel
  {
    for (std::int64_t slice = 0; slice < slices_; ++slice) {
#pragma omp for schedule(dynamic)
      for (std::size_t task = 0; task < tasks_.size(); ++task) compute(tasks_[task], slice, {images, gradient, sums});
    }
    if (parts_ > 1) {
#pragma omp for schedule(static)
      for (std::int64_t weight = 0; weight < weights_; ++weight) {
        float sum = sums[weight];
        for (std::int64_t part = 1; part < parts_; ++part) sum += sums[part * weights_ + weight];
        weight_gradient[weight] = sum;
      }
    }
  }
}

void WeightSums::compute(const Task& task, std::int64_t slice, Operands operands) const
{
  operands.weights += task.part * weights_;
  if (slice == 0)
    for (auto output = task.outputs.begin; output < task.outputs.end; ++output)
      for (auto block = task.inputs.begin; block < task.inputs.end; ++block)
        std::fill_n(operands.weights + weight_offset(output, block, 0),
                    spec_.kernel * spec_.kernel * input_block_channels_ * place_channels, 0.0F);
  const auto number = parts_ * slices_, own = task.part + slice, strips = std::ssize(strips_);
  for (auto strip = strips * own / number; strip < strips * (own + 1) / number; ++strip)
    for (auto block = task.inputs.begin; block < task.inputs.end; ++block)
      add_strip(task, strips_[static_cast<std::size_t>(strip)], block, operands);
}

WeightSums::IndexRange WeightSums::inside(IndexRange places, std::int64_t offset, std::int64_t pixels) const
{
  // 0 <= place * stride + offset - padding < pixels
  const auto first = offset < spec_.padding ? divided_up(spec_.padding - offset, spec_.stride) : 0;
  const auto behind = pixels + spec_.padding - offset;
  const auto end = behind > 0 ? divided_up(behind, spec_.stride) : 0;
  return {std::max(places.begin, first), std::min(places.end, end)};
}

// sum over the strip's places of dL/dy * input, for one block of inputs and the task's outputs.
void WeightSums::add_strip(const Task& task, const Strip& strip, std::int64_t input_block, const Operands& operands) const
{
  const auto pixels = input_.height * input_.width, places = output_.height * output_.width;
  const auto column = in_planes_ ? 1 : place_channels; // floats from one pixel to the next
  PlaceSums sums{.images = strip.images.size(),
                 .scalar_image = input_.channels * pixels,
                 .scalar_row = spec_.stride * input_.width * column,
                 .scalar_column = spec_.stride * column,
                 .scalar_stride = in_planes_ ? pixels : 1,
                 .vector_image = output_.channels * places,
                 .vector_row = output_.width * place_channels,
                 .vector_block = places * place_channels,
                 .result_block = weight_offset(1, 0, 0)};
  const auto scalars = std::min(input_block_channels_, most_place_scalars);
  const auto kernel = place_kernel(scalars, task.outputs.size());
  const float* images = operands.images + strip.images.begin * sums.scalar_image + input_block * pixels * input_block_channels_;
  const float* gradient = operands.gradient + strip.images.begin * sums.vector_image + task.outputs.begin * sums.vector_block;
  for (std::int64_t kh = 0; kh < spec_.kernel; ++kh) {
    const auto rows = inside(strip.rows, kh, input_.height);
    float* weights = operands.weights + weight_offset(task.outputs.begin, input_block, kh);
    for (std::int64_t kw = 0; kw < spec_.kernel; ++kw, weights += input_block_channels_ * place_channels) {
      const auto columns = inside({0, output_.width}, kw, input_.width);
      if (rows.size() <= 0 || columns.size() <= 0) continue; // the window's pixel lies outside for all places
      sums.rows = rows.size(), sums.columns = columns.size();
      const auto y = rows.begin * spec_.stride + kh - spec_.padding, x = columns.begin * spec_.stride + kw - spec_.padding;
      const float* first = images + (y * input_.width + x) * column;
      const float* vectors = gradient + (rows.begin * output_.width + columns.begin) * place_channels;
      for (std::int64_t channel = 0; channel < input_block_channels_; channel += scalars)
        kernel(sums, first + channel * sums.scalar_stride, vectors, weights + channel * place_channels);
    }
  }
}

} // namespace dt::nn
