#include "engine/model/models/custom_model.hpp"

#include "core/error.hpp"
#include "core/spec/layer_schema.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt::model {
namespace {

std::vector<LayerLine> parsed(std::span<const std::string> lines)
{
  std::vector<LayerLine> layers;
  for (const auto& line : lines) {
    try {
      layers.push_back(parse_layer(line));
    } catch (const Error& error) {
      throw error.within(fmt::format("model.layers, layer {}", layers.size() + 1));
    }
  }
  return layers;
}

class CustomModel {
 public:
  CustomModel(ModelBuilder& model, std::vector<LayerLine> layers)
      : model_(model), layers_(std::move(layers)), names_(layer_names(layers_)), inputs_(layer_inputs(layers_))
  {
  }

  Tensor build()
  {
    if (layers_.empty()) throw Error(ErrorKind::recipe, "Model custom needs model.layers: the layers of the network.");
    if (const auto problems = find_layer_problems(layers_); !problems.empty())
      refuse(problems.front().layer, problems.front().message);
    if (std::none_of(layers_.begin(), layers_.end(), has_parameters))
      throw Error(ErrorKind::recipe, "model.layers has nothing to train: no convolution, batch_norm or inner_product.");
    for (place_ = 0; place_ < layers_.size(); ++place_) outputs_.push_back(add());
    const auto logits = outputs_.back();
    if (logits.shape != Shape{model_.classes(), 1, 1})
      refuse(layers_.size() - 1, fmt::format("the last layer must have one output a class, {}x1x1, but has {}; end in "
                                             "inner_product: {{outputs: classes}}",
                                             model_.classes(), to_text(logits.shape)));
    return logits;
  }

 private:
  struct Kind {
    std::string_view name;
    Tensor (CustomModel::*add)();
  };

  static bool has_parameters(const LayerLine& layer)
  {
    return layer.kind == "convolution" || layer.kind == "batch_norm" || layer.kind == "inner_product";
  }

  Tensor add()
  {
    static constexpr std::array kinds{
        Kind{"convolution", &CustomModel::convolution},
        Kind{"batch_norm", &CustomModel::batch_norm},
        Kind{"relu", &CustomModel::relu},
        Kind{"max_pooling", &CustomModel::max_pooling},
        Kind{"average_pooling", &CustomModel::average_pooling},
        Kind{"global_average_pooling", &CustomModel::global_average_pooling},
        Kind{"lrn", &CustomModel::lrn},
        Kind{"dropout", &CustomModel::dropout},
        Kind{"add", &CustomModel::sum},
        Kind{"concat", &CustomModel::concat},
        Kind{"inner_product", &CustomModel::inner_product},
    };
    for (const auto& kind : kinds)
      if (kind.name == layer().kind) return (this->*kind.add)();
    throw Error(ErrorKind::internal, fmt::format("No layer is built for the kind {}.", layer().kind));
  }

  // "layer 5 (conv3: convolution channels=64 kernel=7)".
  std::string description(std::size_t place) const
  {
    auto line = layers_[place];
    const auto name = line.attributes.extract("name");
    return fmt::format("layer {} ({}{})", place + 1, name.empty() ? "" : name.mapped() + ": ", to_text(line));
  }

  [[noreturn]] void refuse(std::size_t place, const std::string& what) const
  {
    throw Error(ErrorKind::recipe, fmt::format("model.layers, {}: {}.", description(place), what));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse(place_, what); }

  const LayerLine& layer() const { return layers_[place_]; }
  const std::string& name() const { return names_[place_]; }
  Tensor output_of(int place) const { return place < 0 ? model_.input() : outputs_[static_cast<std::size_t>(place)]; }
  Tensor input() const { return output_of(inputs_[place_].front()); }

  std::vector<Tensor> all_inputs() const
  {
    std::vector<Tensor> tensors;
    for (const auto place : inputs_[place_]) tensors.push_back(output_of(place));
    return tensors;
  }

  void require_windows_fit(std::int64_t kernel, std::int64_t padding) const
  {
    const auto& shape = input().shape;
    if (shape.height + 2 * padding < kernel || shape.width + 2 * padding < kernel)
      refuse(fmt::format("windows of {0}x{0} with padding {1} do not fit its input of {2}", kernel, padding, to_text(shape)));
  }

  Tensor convolution()
  {
    const ConvolutionSpec spec{.channels = layer().integer("channels"),
                               .kernel = layer().integer("kernel"),
                               .stride = layer().integer("stride"),
                               .padding = layer().integer("padding"),
                               .groups = layer().integer("groups"),
                               .bias = layer().boolean("bias")};
    require_windows_fit(spec.kernel, spec.padding);
    const auto& shape = input().shape;
    if (shape.channels % spec.groups != 0 || spec.channels % spec.groups != 0)
      refuse(fmt::format("its {} groups must divide both the {} channels that it makes and those of its input of {}", spec.groups,
                         spec.channels, to_text(shape)));
    return model_.convolution(name(), input(), spec);
  }

  PoolingSpec pooling() const
  {
    const PoolingSpec spec{.kernel = layer().integer("kernel"),
                           .stride = layer().integer("stride"),
                           .padding = layer().integer("padding"),
                           .ceil = layer().boolean("ceil")};
    require_windows_fit(spec.kernel, spec.padding);
    if (spec.padding >= spec.kernel)
      refuse(fmt::format("windows of {0}x{0} would hold nothing but padding of {1}", spec.kernel, spec.padding));
    return spec;
  }

  Tensor batch_norm() { return model_.batch_norm(name(), input()); }
  Tensor relu() { return model_.relu(input()); }
  Tensor max_pooling() { return model_.max_pooling(input(), pooling()); }
  Tensor average_pooling() { return model_.average_pooling(input(), pooling()); }
  Tensor global_average_pooling() { return model_.global_average_pooling(input()); }
  Tensor dropout() { return model_.dropout(input(), layer().real("rate")); }

  Tensor lrn()
  {
    return model_.lrn(
        input(),
        {.size = layer().integer("size"), .alpha = layer().real("alpha"), .beta = layer().real("beta"), .k = layer().real("k")});
  }

  // Reports the first input whose shape differs: throws a recipe error with its shape and the first input's shape.
  template<class Fits> void require_alike(const std::vector<Tensor>& inputs, Fits fits, const char* what) const
  {
    const auto& places = inputs_[place_];
    const auto name_of = [&](int place) {
      return place < 0 ? std::string(images_name) : names_[static_cast<std::size_t>(place)];
    };
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (!fits(inputs[i].shape))
        refuse(fmt::format("its inputs must have {}, but {} is {} and {} is {}", what, name_of(places[0]),
                           to_text(inputs[0].shape), name_of(places[i]), to_text(inputs[i].shape)));
  }

  Tensor sum()
  {
    const auto inputs = all_inputs();
    const auto& first = inputs.front();
    require_alike(
        inputs, [&](const Shape& shape) { return shape == first.shape; }, "one shape");
    auto x = first;
    for (std::size_t i = 1; i < inputs.size(); ++i) x = model_.add(x, inputs[i]);
    return x;
  }

  Tensor concat()
  {
    const auto inputs = all_inputs();
    const auto& first = inputs.front().shape;
    const auto fits = [&](const Shape& shape) { return shape.height == first.height && shape.width == first.width; };
    require_alike(inputs, fits, "one height and width");
    return model_.concat(inputs);
  }

  Tensor inner_product()
  {
    const bool one_a_class = layer().get("outputs") == "classes";
    return model_.inner_product(name(), input(), one_a_class ? model_.classes() : layer().integer("outputs"));
  }

  ModelBuilder& model_;
  std::vector<LayerLine> layers_;
  std::vector<std::string> names_;
  LayerInputs inputs_;
  std::vector<Tensor> outputs_;
  std::size_t place_ = 0; // index of the layer in progress
};

} // namespace

Tensor custom(ModelBuilder& model, std::span<const std::string> lines) { return CustomModel(model, parsed(lines)).build(); }

} // namespace dt::model
