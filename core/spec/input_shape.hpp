// Image shapes and numbers of classes of the data sets, and of the models as published. dtctl needs them without the engine and
// without the data; tests compare them with the engine's data sources and models.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt {

struct InputShape {
  std::int64_t channels = 1, height = 28, width = 28;
  std::int64_t classes = 10;
  friend auto operator<=>(const InputShape&, const InputShape&) = default;
};

// The shape with height and width of data.image_size, if the recipe gives it.
InputShape with_image_size(InputShape shape, const DataSpec& data);

// Returns "3x32x32": channels, height and width, without the classes.
std::string image_text(const InputShape& shape);
// Reads the text that image_text writes. Returns nothing if it is not three whole numbers above 0.
std::optional<InputShape> parse_image(std::string_view text);

// Shape of the images that the network gets. Returns nothing for a packed set, whose file tells the shape, and if the name is not
// one of data_names().
std::optional<InputShape> input_shape_of(const DataSpec& data);

// A model with the image shape and number of classes for which it was published.
struct ModelFacts {
  std::string_view name; // one of model_names(), except custom
  InputShape natural;
  std::int64_t parameters; // number of trained parameters
};
std::span<const ModelFacts> model_facts();
// Returns null for custom and for unknown names.
const ModelFacts* find_model_facts(std::string_view name);

} // namespace dt
