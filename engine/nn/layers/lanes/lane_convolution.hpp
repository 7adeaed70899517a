// LaneConvolution: the convolution in image lanes, for small images and few channels, with the ReLU and the max pooling after it.
#pragma once

#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/kernels/lanes/lane_rows.hpp"
#include "engine/nn/layers/affine/convolution.hpp"
#include "engine/nn/layers/pooling.hpp"

#include <optional>
#include <vector>

namespace dt::nn {

class LaneConvolution final : public Convolution {
 public:
  explicit LaneConvolution(const model::Layer& description);
  static bool supports(const ConvolutionSpec& spec) { return spec.groups == 1; }
  // Ends the forward pass with the pooling, after the ReLU if there is one, and does the backward passes of both. The images
  // before the pooling are never stored as a whole. Only for a maximum over windows that do not overlap, without padding.
  static bool can_join(const Pooling& pooling);
  void join(const Pooling& pooling, Tensor output);
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  // Pixels of the input's gradient in a row or column whose sums have the same terms.
  struct Line {
    std::size_t terms;     // in input_terms_
    std::int64_t from, to; // place of the first pixel's terms in the gradient of the output, and its own
    int pixels;
    std::ptrdiff_t from_stride, to_stride;
  };
  void describe_terms();
  void describe_lines();
  void run_forward(std::int64_t groups) const;
  void forward_rows(std::int64_t group, std::int64_t row, std::int64_t rows, float* results) const;
  void forward_pooled(std::int64_t group, std::int64_t pooled_row, float* rows, float* results) const;
  const float* gradient_of(std::int64_t group, float* scratch) const;
  std::int64_t gradient_rows(std::int64_t group, std::int64_t pooled_row, float* rows) const;
  void add_bias_gradient(std::int64_t group) const;
  void correlate(std::int64_t group, std::int64_t first_term, std::int64_t terms, float* sums) const;
  void run_backward_weights(std::int64_t groups) const;
  void run_backward_data(std::int64_t groups) const;
  // By minimal filtering (engine/nn/kernels/lanes/lane_rows.hpp), where there are enough products to pay for the transforms.
  bool is_filtered(const Plan& plan) const;
  void plan_filtering(Plan& plan);
  void transform_weights() const;
  void transform_pixels(std::int64_t group, std::int64_t first, std::int64_t behind) const;
  void filtered_rows(std::int64_t group, std::int64_t first, std::int64_t rows, float* results, std::ptrdiff_t plane) const;
  void filter_gradient(std::int64_t group, float* points) const;
  void run_filtered_weights(std::int64_t groups) const;
  void plan_filtered_data(Plan& plan);
  void run_filtered_data(std::int64_t groups) const;
  void filtered_data_rows(const float* result_points, std::int64_t first, std::int64_t behind, float* points, float* rows) const;
  std::int64_t most_rows() const { return pooling_ ? pooling_->kernel : 1; } // that a call of forward_rows computes
  std::int64_t pairs() const { return row_pairs(computed_.width); }
  std::int64_t pixel_points_size() const { return padded_.height * row_points * padded_.channels * pairs() * image_lanes; }
  std::int64_t pixel_row_points_size() const { return row_points * padded_.channels * pairs() * image_lanes; }
  std::int64_t result_points_size() const { return row_points * computed_.channels * pairs() * image_lanes; } // of one row
  dnnl::memory::desc lane_weights() const;
  dnnl::memory scratch(Plan& plan, std::int64_t vectors) const;
  float* scratch_of_thread() const;

  Shape computed_, padded_; // of one image: the result before the pooling, and the input with its border of zeros
  std::optional<PoolingWindows> pooling_;
  Terms terms_;                    // of a pixel of the result
  std::vector<Terms> input_terms_; // of a pixel of the input's gradient: at the border fewer results depend on it
  std::vector<Line> lines_;
  InstructionSet set_ = best_instruction_set();
  dnnl::memory images_, weights_, bias_, results_, winners_; // images_: padded
  dnnl::memory gradient_, sums_, weight_gradient_, bias_gradient_, data_gradient_;
  dnnl::memory scratch_;  // for each thread one image group before the pooling
  bool filtered_ = false; // by minimal filtering; lane_convolution_rows.cpp describes its buffers
  dnnl::memory pixel_points_, weight_points_, gradient_points_, row_results_, pixel_gradient_points_;
  Terms row_terms_;                    // of a point of a result
  std::vector<Terms> row_input_terms_; // of a point of the input's gradient, by its row
};

} // namespace dt::nn
