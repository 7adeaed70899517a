// Registry of the models: each family has one file in models/, each model one line in model_registry.cpp.
#pragma once

#include "engine/nn/graph/model_builder.hpp"

namespace dt::nn {

// Builds options.model for its image shape and classes. Throws a recipe error for an unknown name and for shapes that do not fit.
Model build_model(const NetworkOptions& options);

// Whether image lanes can be faster than oneDNN's layers: convolutions of at most so many channels, and no large layer. With more
// channels oneDNN's vectors are full.
bool has_small_layers(const Model& model, std::int64_t most_channels);
// Whether image lanes are the rule for this model: small layers, convolutions of few channels, no batch norm, and a batch that
// fills most lanes of its groups of sixteen.
bool suits_image_lanes(const Model& model, std::int64_t batch);

// The input that a model was published for; 3x32x32 and 10 classes for custom and unknown names.
struct NaturalInput {
  Shape image;
  std::int64_t classes;
};
NaturalInput natural_input(const std::string& model);

// Each function describes its model and returns the logits.
Tensor lenet(ModelBuilder& model);
Tensor alexnet(ModelBuilder& model);
Tensor alexnet_2012(ModelBuilder& model);
Tensor alexnet_cifar(ModelBuilder& model);
Tensor vgg11(ModelBuilder& model);
Tensor vgg16(ModelBuilder& model);
Tensor vgg19(ModelBuilder& model);
Tensor vgg11_cifar(ModelBuilder& model);
Tensor vgg16_cifar(ModelBuilder& model);
Tensor vgg19_cifar(ModelBuilder& model);
Tensor resnet18(ModelBuilder& model);
Tensor resnet34(ModelBuilder& model);
Tensor resnet50(ModelBuilder& model);
Tensor resnet101(ModelBuilder& model);
Tensor resnet20(ModelBuilder& model);
Tensor resnet56(ModelBuilder& model);
Tensor googlenet(ModelBuilder& model);
Tensor googlenet_cifar(ModelBuilder& model);

} // namespace dt::nn
