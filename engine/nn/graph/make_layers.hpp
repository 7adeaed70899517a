// Makes the layers that compute a model, and chooses the kernels that they are made for.
#pragma once

#include "engine/model/models/registry.hpp"
#include "engine/nn/graph/layer_graph.hpp"
#include "engine/nn/graph/network.hpp"

namespace dt::nn {

enum class LayerKernels {
  library,     // oneDNN's, and ours where they are faster
  image_lanes, // our own with sixteen images side by side (engine/nn/kernels/lanes/lane_products.hpp) where there is one, else
               // as library
  plain_loops, // of convolutions; the rest as library
};

struct LayerOptions {
  LayerKernels kernels = LayerKernels::library;
  bool winograd = true; // whether make_convolution may take Winograd's algorithm
  Precision precision = Precision::fp32;
};

// One layer for each layer of the model, nothing fused yet.
LayerGraph make_layers(const model::Model& model, const LayerOptions& options);

// The part of the options that describes the model.
model::ModelOptions model_options(const NetworkOptions& options);
// The layers of a network with these options, fused. Throws a recipe error as model::build_model.
LayerGraph make_network_layers(const NetworkOptions& options);

// Whether image lanes can be faster than oneDNN's layers: every convolution has at most `most_channels` channels, and no layer is
// large. With more channels oneDNN fills its vectors with channels, so image lanes gain nothing.
bool has_small_layers(const model::Model& model, std::int64_t most_channels);
// Whether image lanes are the rule for this model: small layers, convolutions of few channels, no batch norm, and a batch that
// fills most lanes of its groups of sixteen.
bool suits_image_lanes(const model::Model& model, std::int64_t batch);

} // namespace dt::nn
