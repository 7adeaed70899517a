#include "engine/nn/graph/model.hpp"

#include "engine/nn/layers/add.hpp"
#include "engine/nn/layers/affine/affine.hpp"
#include "engine/nn/layers/batch_norm.hpp"
#include "engine/nn/layers/lanes/lane_convolution.hpp"
#include "engine/nn/layers/pooling.hpp"
#include "engine/nn/layers/relu.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

// A model's graph while its layers are fused.
class Joiner {
 public:
  explicit Joiner(Model& model) : model_(model), uses_(model.uses()) {}

  void join_adds()
  {
    for (std::size_t i = 0; i < model_.layers.size(); ++i)
      if (dynamic_cast<Add*>(model_.layers[i].get())) i -= join_add(i) ? 1 : 0;
  }

  void join_relus()
  {
    for (std::size_t i = 0; i < model_.layers.size(); ++i)
      if (dynamic_cast<Relu*>(model_.layers[i].get())) i -= join_relu(i) ? 1 : 0;
  }

  void exchange_with_poolings()
  {
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      auto* relu = dynamic_cast<Relu*>(model_.layers[i].get());
      auto* pooling = relu ? only_reader(relu->output()) : nullptr;
      if (pooling) exchange(*relu, *pooling, i);
    }
  }

  void join_lane_poolings()
  {
    for (std::size_t i = 0; i < model_.layers.size(); ++i)
      if (auto* convolution = dynamic_cast<LaneConvolution*>(model_.layers[i].get())) join_pooling(*convolution);
  }

 private:
  bool used_once(Tensor tensor) const { return uses_[tensor.id] == 1; }
  Layer* producer(Tensor tensor) const
  {
    const auto found = std::find_if(model_.layers.begin(), model_.layers.end(),
                                    [&](const auto& layer) { return layer->output().id == tensor.id; });
    return found == model_.layers.end() ? nullptr : found->get();
  }
  std::size_t place_of(const Layer* layer) const
  {
    return static_cast<std::size_t>(
        std::find_if(model_.layers.begin(), model_.layers.end(), [&](const auto& other) { return other.get() == layer; }) -
        model_.layers.begin());
  }
  void remove(std::size_t place) { model_.layers.erase(model_.layers.begin() + static_cast<std::ptrdiff_t>(place)); }

  // Moves the batch norm to the addition's place, after the other input. True if the batch norm was moved, so that one layer
  // before `place` is gone.
  bool join_add(std::size_t place)
  {
    const auto inputs = model_.layers[place]->inputs();
    for (std::size_t side = 0; side < 2; ++side) {
      auto* norm = dynamic_cast<BatchNorm*>(producer(inputs[side]));
      if (!norm || norm->has_relu() || norm->has_residual() || !used_once(inputs[side])) continue;
      norm->fuse_add(inputs[1 - side], model_.layers[place]->output());
      const auto from = place_of(norm);
      model_.layers[place] = std::move(model_.layers[from]);
      remove(from);
      return true;
    }
    return false;
  }

  // True if the ReLU was removed as a separate layer.
  bool join_relu(std::size_t place)
  {
    auto& relu = dynamic_cast<Relu&>(*model_.layers[place]);
    auto* before = producer(relu.input());
    if (!before || !used_once(relu.input())) return false;
    if (auto* affine = dynamic_cast<Affine*>(before)) {
      affine->fuse_relu();
      relu.set_fused();
      return false;
    }
    auto* norm = dynamic_cast<BatchNorm*>(before);
    if (!norm || norm->has_relu()) return false;
    if (auto* affine = dynamic_cast<Affine*>(producer(norm->input()))) affine->set_feeds_relu();
    norm->fuse_relu(relu.output());
    remove(place);
    return true;
  }

  Pooling* only_reader(Tensor tensor) const
  {
    auto* pooling = used_once(tensor) ? dynamic_cast<Pooling*>(reader(tensor)) : nullptr;
    return pooling && pooling->rule() == Pooling::Rule::max ? pooling : nullptr;
  }

  // The first layer that reads only this tensor.
  Layer* reader(Tensor tensor) const
  {
    for (const auto& layer : model_.layers)
      if (layer->inputs().size() == 1 && layer->input().id == tensor.id) return layer.get();
    return nullptr;
  }

  // relu(x) -> y, pooling(y) -> z becomes pooling(x) -> y', relu(y') -> z; y' has y's id.
  void exchange(Relu& relu, Pooling& pooling, std::size_t place)
  {
    const Tensor pooled{relu.output().id, pooling.output().shape};
    const auto result = pooling.output();
    pooling.set_input(0, relu.input());
    pooling.set_output(pooled);
    relu.set_input(0, pooled);
    relu.set_output(result);
    std::swap(model_.layers[place], model_.layers[place_of(&pooling)]);
  }

  // The pooling's layer disappears, and that of the convolution's ReLU, which came after it. A ReLU that is not the convolution's
  // own but follows the pooling in the model stays.
  void join_pooling(LaneConvolution& convolution)
  {
    auto* pooling = only_reader(convolution.output());
    if (!pooling || !LaneConvolution::can_join(*pooling)) return;
    auto* relu = used_once(pooling->output()) ? dynamic_cast<Relu*>(reader(pooling->output())) : nullptr;
    if (relu && !relu->is_fused()) relu = nullptr;
    if (convolution.has_relu() != (relu != nullptr)) return;
    convolution.join(*pooling, relu ? relu->output() : pooling->output());
    if (relu) remove(place_of(relu));
    remove(place_of(pooling));
  }

  Model& model_;
  std::vector<int> uses_;
};

} // namespace

std::vector<int> Model::uses() const
{
  std::vector<int> counts(tensors, 0);
  for (const auto& layer : layers)
    for (const auto tensor : layer->inputs()) ++counts[tensor.id];
  ++counts[logits.id];
  for (const auto& head : auxiliary) ++counts[head.logits.id];
  return counts;
}

std::vector<bool> Model::needed_for_logits() const
{
  std::vector<bool> tensor_needed(tensors, false), needed(layers.size(), false);
  tensor_needed[logits.id] = true;
  for (std::size_t i = layers.size(); i-- > 0;) {
    needed[i] = tensor_needed[layers[i]->output().id];
    if (needed[i])
      for (const auto tensor : layers[i]->inputs()) tensor_needed[tensor.id] = true;
  }
  return needed;
}

void fuse(Model& model)
{
  Joiner joiner(model);
  joiner.join_adds();
  joiner.join_relus();
  joiner.exchange_with_poolings();
  joiner.join_lane_poolings();
}

} // namespace dt::nn
