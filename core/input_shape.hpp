// What goes into a network and how many classes come out: of data sets, and of models as published. dtctl knows them without
// the engine and without the data; tests hold them to the engine's sources and models.
#pragma once

#include "core/run_spec.hpp"

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

// "3x32x32", without the classes.
std::string image_text(const InputShape& shape);
// Likewise read; nothing when the text is not three whole numbers above 0.
std::optional<InputShape> parse_image(std::string_view text);

// Of the data set's images; nothing for a name that is not one of data_names().
std::optional<InputShape> input_shape_of(const DataSpec& data);

// A model at the image shape and classes it was published for.
struct ModelFacts {
  std::string_view name; // of model_names(), all but custom
  InputShape natural;
  std::int64_t parameters; // trained ones
};
std::span<const ModelFacts> model_facts();
// Null for custom and for names that are no model's.
const ModelFacts* find_model_facts(std::string_view name);

} // namespace dt
