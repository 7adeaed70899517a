// The packed data sets of the home, as `dtctl new` offers them.
#pragma once

#include "core/home/home.hpp"
#include "core/spec/input_shape.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

struct PackedChoice {
  std::string name;
  InputShape shape;          // height 0: the images have different sizes
  std::int64_t min_side = 0; // shortest side of an image
  std::int64_t train_samples = 0;
};

// Sorted by name. Leaves out files that cannot be read, and those with the name of one of data_names(), which that name means.
std::vector<PackedChoice> packed_choices(const Home& home);

// A model that suits the images.
std::string default_model(const PackedChoice& set);

// Why a model refuses images of a shape; empty if it takes them.
using Objection = std::function<std::string(const std::string& model, const InputShape& shape)>;

// The side of the images that the model gets from the set (data.image_size); 0: as the set has them. That is so for images of one
// size which are not larger than those for which the model was published, if the model takes them. Throws a usage error if the
// model takes no size.
std::int64_t image_size_for(const std::string& model, const PackedChoice& set, const Objection& objection);

} // namespace dt::cli
