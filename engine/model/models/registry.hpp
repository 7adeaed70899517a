// Registry of the models: each family has one file beside this one, each model one line in registry.cpp.
#pragma once

#include "engine/model/model_builder.hpp"

namespace dt::model {

struct ModelOptions {
  std::string model;                 // one of registered_models()
  std::vector<std::string> layers{}; // for model "custom": one line per layer (engine/model/models/custom_model.hpp)
  Shape image{1, 28, 28};
  std::int64_t classes = 10;
  bool dropout = true; // false: the model's dropout layers are left out
};

// Builds the model for its image shape and classes. Throws a recipe error for an unknown name and for shapes that do not fit.
Model build_model(const ModelOptions& options);
std::vector<std::string> registered_models();

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

} // namespace dt::model
