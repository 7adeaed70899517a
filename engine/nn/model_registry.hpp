// The models that exist: one file each in models/, one line in registry() here.
#pragma once

#include "engine/nn/model_builder.hpp"

namespace dt::engine {

// The model of options.model for its image shape and classes, as described. A recipe error for an unknown name and for shapes that
// do not fit.
Model build_model(const NetworkOptions& options);

// The images and classes that a model was made for.
struct NaturalInput {
  ImageShape image;
  std::int64_t classes = 10;
};
NaturalInput natural_input(const std::string& model);

// Each describes the model and returns its logits.
Tensor lenet(ModelBuilder& model);

} // namespace dt::engine
