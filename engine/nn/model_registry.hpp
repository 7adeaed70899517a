// The models that exist: one file a family in models/, one line in the registry (model_registry.cpp) each.
#pragma once

#include "engine/nn/model_builder.hpp"

namespace dt::engine {

// The model of options.model for its image shape and classes. A recipe error for an unknown name and for shapes that do not fit.
Model build_model(const NetworkOptions& options);

// What a model was published for; for custom, and for names that are no model's, 3x32x32 and 10 classes.
struct NaturalInput {
  ImageShape image;
  std::int64_t classes;
};
NaturalInput natural_input(const std::string& model);

// Each describes its model and returns the logits.
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

} // namespace dt::engine
