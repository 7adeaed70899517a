// A network described by lines (model.layers) in double precision, from the layers of tests/engine/nn/reference.hpp: what the
// engine's networks are held against. Dropout keeps all numbers. Images, and so all tensors, are squares.
#pragma once

#include "core/spec/layer_schema.hpp"
#include "engine/model/tensor.hpp"
#include "tests/engine/nn/reference.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::nn::reference {

using model::Shape;

class Network {
 public:
  Network(const std::vector<std::string>& lines, const Shape& image, std::int64_t classes, std::int64_t batch);

  using Parameters = std::map<std::string, Values>; // "conv1.weight" -> its numbers in plain order
  struct Result {
    double loss = 0;
    Parameters gradients{}; // of the mean loss; of a running statistic: this batch's value
  };
  // A training pass, with batch norm's statistics of this batch.
  Result train(const Values& images, const Parameters& parameters, const std::vector<std::int32_t>& labels);
  // The logits of an evaluation, with the running statistics.
  Values evaluate(const Values& images, const Parameters& parameters);

 private:
  struct Node {
    LayerLine line;
    std::string name;
    std::vector<int> inputs; // -1: the images
    Shape in, out;
    Values output{}, gradient{};
  };
  Shape shape_of(int place) const { return place < 0 ? image_ : nodes_[static_cast<std::size_t>(place)].out; }
  const Values& output_of(int place) const { return place < 0 ? images_ : nodes_[static_cast<std::size_t>(place)].output; }
  Shape output_shape(const Node& node) const;
  Windows windows(const Node& node) const;
  Channels channels(const Node& node) const;
  Values forward(const Node& node, bool training) const;
  // Gradients of the inputs; those of the parameters are added to `gradients`.
  std::vector<Values> backward(const Node& node, Parameters& gradients) const;
  const Values& parameter(const Node& node, const char* what) const { return parameters_->at(node.name + what); }

  Shape image_;
  std::int64_t classes_, batch_;
  std::vector<Node> nodes_;
  Values images_;
  const Parameters* parameters_ = nullptr;
};

} // namespace dt::nn::reference
