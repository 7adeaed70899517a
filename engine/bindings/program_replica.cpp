#include "engine/bindings/program_replica.hpp"

#include "core/error.hpp"

#include <optional>
#include <utility>

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
    layout.tensors.push_back({layout.floats, layout.floats + length + 1});
    layout.floats = (layout.floats + length + line) / line * line;
  }
  return layout;
}

ProgramReplica::ProgramReplica(Parts parts)
    : parts_(std::move(parts)), buffers_{{parts_.weights, {}, {}}, {parts_.gradients, {}, {}}},
      is_final_(parts_.layout.tensors.size()), is_absent_(parts_.layout.tensors.size())
{
  forget_copies();
}

void ProgramReplica::forget_copies()
{
  auto& weights = buffer(DTCTL_SYNC_WEIGHTS);
  weights.old.add(weights.whole());
  weights.changed.clear();
}

std::span<float> ProgramReplica::brought(int number)
{
  auto& wanted = buffer(number);
  bring(number, wanted.whole(), true);
  return wanted.copy;
}

// The buffer gets the presence of all tensors behind what it is brought.
std::span<float> ProgramReplica::gradients()
{
  const auto all = parts_.is_alone ? parts_.gradients : brought(DTCTL_SYNC_GRADIENTS);
  if (std::exchange(is_presence_due_, false))
    for (std::size_t t = 0; t < is_absent_.size(); ++t) write_presence(t);
  return all;
}

// Writes behind the tensor's gradient whether this rank has one. Does nothing if the device sums: then the program writes that
// into the device's buffer.
void ProgramReplica::write_presence(std::size_t tensor)
{
  if (can_sum()) return;
  parts_.gradients[parts_.layout.tensors[tensor].end - 1] = parts_.tells_absent && !is_absent_[tensor] ? 1.0F : 0.0F;
}

std::vector<std::size_t> ProgramReplica::absent()
{
  std::vector<std::size_t> tensors;
  for (std::size_t t = 0; parts_.tells_absent && t < is_absent_.size(); ++t) {
    const auto mark = parts_.layout.tensors[t].end - 1;
    if (can_sum() && !is_absent_[t]) continue; // this rank has one
    if (can_sum()) bring(DTCTL_SYNC_GRADIENTS, {mark, mark + 1}, false);
    if (parts_.gradients[mark] == 0) tensors.push_back(t);
  }
  return tensors;
}

void ProgramReplica::bring(int vector, Range range, bool write)
{
  if (!has_device()) return;
  const std::scoped_lock lock(mutex_);
  auto& wanted = buffer(vector);
  for (const auto& part : wanted.old.within(range))
    require(parts_.callbacks.fetch(parts_.callbacks.context, vector, part.begin, part.end), "fetch");
  wanted.old.remove(range);
  if (write) wanted.changed.add(range);
}

// Copies to the device what was changed in the range.
void ProgramReplica::store(int number, Range range)
{
  for (const auto& part : buffer(number).changed.within(range))
    require(parts_.callbacks.store(parts_.callbacks.context, number, part.begin, part.end), "store");
}

void ProgramReplica::give(int number, Range range)
{
  if (!has_device()) return;
  store(number, range);
  buffer(number).changed.remove(range);
}

void ProgramReplica::hand_back()
{
  const std::scoped_lock lock(mutex_);
  give(DTCTL_SYNC_WEIGHTS, buffer(DTCTL_SYNC_WEIGHTS).whole());
}

int ProgramReplica::add(std::span<float> host)
{
  const auto number = static_cast<int>(buffers_.size());
  require(parts_.callbacks.make(parts_.callbacks.context, number, host.data(), host.size()), "make");
  buffers_.push_back({host, {}, {}});
  return number;
}

void ProgramReplica::combine(int y, float a, int x, float b, int z, float c, Range range)
{
  const std::scoped_lock lock(mutex_);
  for (const int operand : {x, z, y})
    if (operand != none) give(operand, range);
  require(parts_.callbacks.combine(parts_.callbacks.context, y, a, x, b, z, c, range.begin, range.end), "combine");
  buffer(y).old.add(range);
}

void ProgramReplica::sum(int vector, Range range, std::span<const int> ranks)
{
  const std::scoped_lock lock(mutex_);
  give(vector, range);
  require(parts_.callbacks.sum(parts_.callbacks.context, vector, range.begin, range.end, ranks.data(), ranks.size()), "sum");
  buffer(vector).old.add(range);
  has_summed_ = has_summed_ || vector == DTCTL_SYNC_GRADIENTS;
}

sync::BatchLoss ProgramReplica::compute(sync::GradientListener* listener)
{
  hand_back();
  if (parts_.is_alone) listener = nullptr;
  listener_ = listener;
  is_final_.assign(is_final_.size(), false);
  is_absent_.assign(is_absent_.size(), false);
  untold_ = is_final_.size();
  updated_ = 0;
  auto& gradients = buffer(DTCTL_SYNC_GRADIENTS);
  gradients.changed.clear();
  gradients.old.clear();
  has_summed_ = false;
  if (listener == nullptr || can_sum()) gradients.old.add(gradients.whole()); // else announced gradients lie in the copy
  sync::BatchLoss loss;
  require(parts_.callbacks.compute(parts_.callbacks.context, listener != nullptr ? 1 : 0, &loss.mean, &loss.samples), "compute");
  is_presence_due_ = listener_ == nullptr;
  if (listener_ != nullptr) {
    for (std::size_t t = 0; t < is_final_.size(); ++t)
      if (!is_final_[t]) write_presence(t);
    is_final_.assign(is_final_.size(), true);
    tell_listener();
  }
  listener_ = nullptr;
  return loss;
}

void ProgramReplica::require_tensor(std::size_t tensor) const
{
  if (tensor >= is_final_.size())
    throw Error(ErrorKind::run, fmt::format("there is no tensor {}: the model has {}", tensor, is_final_.size()));
}

void ProgramReplica::note_absent(std::size_t tensor)
{
  require_tensor(tensor);
  is_absent_[tensor] = true;
}

void ProgramReplica::announce(std::size_t tensor)
{
  require_tensor(tensor);
  if (listener_ == nullptr) return;
  if (is_final_[tensor])
    throw Error(ErrorKind::run, fmt::format("the gradient of tensor {} was announced twice in step {}", tensor, step_.number));
  is_final_[tensor] = true;
  write_presence(tensor);
  tell_listener();
}

void ProgramReplica::tell_listener()
{
  while (untold_ > 0 && is_final_[untold_ - 1]) listener_->gradients_ready(parts_.layout.tensors[--untold_]);
}

void ProgramReplica::update(Range range, float gradient_factor)
{
  hand_back();
  store(DTCTL_SYNC_GRADIENTS, range);
  updated_ += range.size();
  if (updated_ < parts_.layout.tensors.back().end) return;
  const int is_changed = has_summed_ || !buffer(DTCTL_SYNC_GRADIENTS).changed.empty() || !has_device() ? 1 : 0;
  require(parts_.callbacks.update(parts_.callbacks.context, is_changed, gradient_factor), "update");
  buffer(DTCTL_SYNC_WEIGHTS).old.add(buffer(DTCTL_SYNC_WEIGHTS).whole());
}

void ProgramReplica::apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  const auto is_there = [&](Range tensor) { return !parts_.tells_absent || gradients[tensor.end - 1] != 0; };
  // One call of the rule for each row of tensors that have a gradient.
  std::optional<Range> row;
  const auto end_row = [&] {
    if (row) parts_.server_rule->step(weights, gradients, learning_rate, {.range = *row});
    row.reset();
  };
  for (const auto& tensor : parts_.layout.tensors) {
    if (!range.contains(tensor.begin)) continue;
    if (!is_there(tensor))
      end_row();
    else
      row = Range{row ? row->begin : tensor.begin, tensor.end};
  }
  end_row();
}

} // namespace dt::bindings
