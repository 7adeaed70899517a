#include "engine/nn/graph/layer_graph.hpp"

#include "engine/nn/layers/add.hpp"
#include "engine/nn/layers/affine/affine.hpp"
#include "engine/nn/layers/batch_norm.hpp"
#include "engine/nn/layers/lanes/lane_convolution.hpp"
#include "engine/nn/layers/pooling.hpp"
#include "engine/nn/layers/relu.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

// A graph while its layers are fused.
class Joiner {
 public:
  explicit Joiner(LayerGraph& graph) : graph_(graph), uses_(graph.uses()) {}

  void join_adds()
  {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (dynamic_cast<Add*>(graph_.layers[i].get())) i -= join_add(i) ? 1 : 0;
  }

  void join_relus()
  {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (dynamic_cast<Relu*>(graph_.layers[i].get())) i -= join_relu(i) ? 1 : 0;
  }

  void exchange_with_poolings()
  {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      auto* relu = dynamic_cast<Relu*>(graph_.layers[i].get());
      auto* pooling = relu ? only_reader(relu->output()) : nullptr;
      if (pooling) exchange(*relu, *pooling, i);
    }
  }

  void join_lane_poolings()
  {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (auto* convolution = dynamic_cast<LaneConvolution*>(graph_.layers[i].get())) join_pooling(*convolution);
  }

 private:
  bool used_once(Tensor tensor) const { return uses_[tensor.id] == 1; }
  Layer* producer(Tensor tensor) const
  {
    const auto found = std::find_if(graph_.layers.begin(), graph_.layers.end(),
                                    [&](const auto& layer) { return layer->output().id == tensor.id; });
    return found == graph_.layers.end() ? nullptr : found->get();
  }
  std::size_t place_of(const Layer* layer) const
  {
    return static_cast<std::size_t>(
        std::find_if(graph_.layers.begin(), graph_.layers.end(), [&](const auto& other) { return other.get() == layer; }) -
        graph_.layers.begin());
  }
  void remove(std::size_t place) { graph_.layers.erase(graph_.layers.begin() + static_cast<std::ptrdiff_t>(place)); }

  // Moves the batch norm to the addition's place, after the other input. True if the batch norm was moved, so that one layer
  // before `place` is gone.
  bool join_add(std::size_t place)
  {
    const auto inputs = graph_.layers[place]->inputs();
    for (std::size_t side = 0; side < 2; ++side) {
      auto* norm = dynamic_cast<BatchNorm*>(producer(inputs[side]));
      if (!norm || norm->has_relu() || norm->has_residual() || !used_once(inputs[side])) continue;
      norm->fuse_add(inputs[1 - side], graph_.layers[place]->output());
      const auto from = place_of(norm);
      graph_.layers[place] = std::move(graph_.layers[from]);
      remove(from);
      return true;
    }
    return false;
  }

  // True if the ReLU was removed as a separate layer.
  bool join_relu(std::size_t place)
  {
    auto& relu = dynamic_cast<Relu&>(*graph_.layers[place]);
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
    return pooling && pooling->spec().rule == PoolingRule::max ? pooling : nullptr;
  }

  // The first layer that reads only this tensor.
  Layer* reader(Tensor tensor) const
  {
    for (const auto& layer : graph_.layers)
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
    std::swap(graph_.layers[place], graph_.layers[place_of(&pooling)]);
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

  LayerGraph& graph_;
  std::vector<int> uses_;
};

} // namespace

std::vector<int> LayerGraph::uses() const
{
  std::vector<int> counts(tensors, 0);
  for (const auto& layer : layers)
    for (const auto tensor : layer->inputs()) ++counts[tensor.id];
  ++counts[logits.id];
  for (const auto& head : auxiliary) ++counts[head.logits.id];
  return counts;
}

std::vector<bool> LayerGraph::needed_for_logits() const
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

void fuse(LayerGraph& graph)
{
  Joiner joiner(graph);
  joiner.join_adds();
  joiner.join_relus();
  joiner.exchange_with_poolings();
  joiner.join_lane_poolings();
}

} // namespace dt::nn
