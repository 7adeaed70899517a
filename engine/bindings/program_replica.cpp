#include "engine/bindings/program_replica.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace dt::bindings {
namespace {

void require(int code, const char* what)
{
  if (code != 0) throw Error(ErrorKind::run, fmt::format("the program's callback `{}` failed", what));
}

} // namespace

Layout lay_out(std::span<const std::size_t> lengths)
{
  constexpr std::size_t line = 16; // floats of a cache line
  Layout layout;
  for (const auto length : lengths) {
    layout.tensors.push_back({layout.floats, layout.floats + length});
    layout.floats = (layout.floats + length + line - 1) / line * line;
  }
  return layout;
}

ProgramReplica::ProgramReplica(Parts parts)
    : parts_(std::move(parts)), weights_{parts_.weights, DTCTL_SYNC_WEIGHTS}, gradients_{parts_.gradients, DTCTL_SYNC_GRADIENTS},
      is_final_(parts_.layout.tensors.size())
{
}

std::span<float> ProgramReplica::fetched(Mirror& mirror)
{
  if (!has_device()) return mirror.values;
  if (!mirror.is_fetched) require(parts_.callbacks.fetch(parts_.callbacks.context, mirror.what), "fetch");
  mirror.is_fetched = mirror.is_changed = true;
  return mirror.values;
}

void ProgramReplica::store(Mirror& mirror, Range range)
{
  if (!has_device() || !mirror.is_changed) return;
  require(parts_.callbacks.store(parts_.callbacks.context, mirror.what, range.begin, range.end), "store");
}

void ProgramReplica::hand_back()
{
  store(weights_, {0, weights_.values.size()});
  weights_.is_changed = false;
}

sync::BatchLoss ProgramReplica::compute(sync::GradientListener* listener)
{
  hand_back();
  if (parts_.is_alone) listener = nullptr;
  listener_ = listener;
  is_final_.assign(is_final_.size(), false);
  untold_ = is_final_.size();
  updated_ = 0;
  gradients_.is_changed = false;
  gradients_.is_fetched = listener != nullptr; // announced gradients lie in the mirror
  sync::BatchLoss loss;
  require(parts_.callbacks.compute(parts_.callbacks.context, listener != nullptr ? 1 : 0, &loss.mean, &loss.samples), "compute");
  if (listener_ != nullptr) {
    is_final_.assign(is_final_.size(), true);
    tell_listener();
  }
  listener_ = nullptr;
  return loss;
}

void ProgramReplica::announce(std::size_t tensor)
{
  if (tensor >= is_final_.size())
    throw Error(ErrorKind::run, fmt::format("there is no tensor {}: the model has {}", tensor, is_final_.size()));
  if (listener_ == nullptr) return;
  if (is_final_[tensor])
    throw Error(ErrorKind::run, fmt::format("the gradient of tensor {} was announced twice in step {}", tensor, step_.number));
  is_final_[tensor] = true;
  tell_listener();
}

void ProgramReplica::tell_listener()
{
  while (untold_ > 0 && is_final_[untold_ - 1]) listener_->gradients_ready(parts_.layout.tensors[--untold_]);
}

void ProgramReplica::update(Range range, float gradient_factor)
{
  hand_back();
  store(gradients_, range);
  updated_ += range.size();
  if (updated_ < parts_.layout.tensors.back().end) return;
  const int is_changed = gradients_.is_changed || !has_device() ? 1 : 0;
  require(parts_.callbacks.update(parts_.callbacks.context, is_changed, gradient_factor), "update");
  weights_.is_fetched = false;
}

void ProgramReplica::apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  parts_.server_rule->step(weights, gradients, learning_rate, {.range = range});
}

} // namespace dt::bindings
