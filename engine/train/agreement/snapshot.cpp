#include "engine/train/agreement/snapshot.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

namespace dt::train {
namespace {

std::string group_of(int rank, const std::string& buffer) { return fmt::format("ranks/{}/{}", rank, buffer); }

} // namespace

std::vector<Snapshot::Buffer> Snapshot::buffers() const
{
  const bool differ = !parts_.strategy.replicated();
  std::vector<Buffer> all{{"weights", parts_.network.weights(), differ}};
  for (const auto& state : parts_.optimizer.state())
    all.push_back({"optimizer/" + state.name, state.values, differ, state.per_segment});
  for (const auto& state : parts_.strategy.state()) all.push_back({"strategy/" + state.name, state.values, state.per_rank});
  return all;
}

std::vector<float> Snapshot::plain_of(const Buffer& buffer) const
{
  if (buffer.per_tensor) return {buffer.values.begin(), buffer.values.end()};
  return parts_.network.plain_of(buffer.values);
}

void Snapshot::restore(const Buffer& buffer, std::span<const float> plain) const
{
  if (buffer.per_tensor)
    std::ranges::copy(plain, buffer.values.begin());
  else
    parts_.network.pack(plain, buffer.values);
}

std::vector<std::int64_t> Snapshot::dims_of(const nn::Parameter& parameter, const Buffer& buffer) const
{
  return buffer.per_tensor ? std::vector<std::int64_t>{1} : parameter.dims;
}

// Whether the trained model must be saved separately, because neither the weights nor a buffer of the strategy contain it.
bool Snapshot::has_model_of_its_own() const
{
  if (parts_.strategy.replicated() || parts_.consensus == nullptr) return false;
  return std::ranges::none_of(parts_.strategy.state(),
                              [](const auto& state) { return state.name == "centre" && !state.per_rank; });
}

std::vector<TensorName> Snapshot::tensors() const
{
  std::vector<TensorName> all;
  const auto add = [&](const std::string& group, const Buffer& buffer) {
    for (const auto& parameter : parts_.network.parameters())
      all.push_back({group + "/" + parameter.name, dims_of(parameter, buffer)});
  };
  for (const auto& buffer : buffers()) {
    if (!buffer.per_rank) add(buffer.name, buffer);
    for (int rank = 0; buffer.per_rank && rank < parts_.comm.size(); ++rank) add(group_of(rank, buffer.name), buffer);
  }
  if (has_model_of_its_own()) add("model", {"model", parts_.network.weights(), false});
  return all;
}

void Snapshot::save(CheckpointWriter* writer) const
{
  std::exception_ptr failure;
  const auto try_write = [&](const std::string& group, const Buffer& buffer, std::span<const float> plain) {
    try {
      if (writer != nullptr && !failure) write(*writer, group, buffer, plain);
    } catch (const std::exception&) {
      failure = std::current_exception(); // the other ranks still send their tensors
    }
  };
  for (const auto& buffer : buffers()) {
    parts_.comm.activity().advance();
    auto plain = plain_of(buffer);
    try_write(buffer.per_rank ? group_of(0, buffer.name) : buffer.name, buffer, plain);
    for (int rank = 1; buffer.per_rank && rank < parts_.comm.size(); ++rank) {
      parts_.comm.bring_to_root(plain, rank);
      try_write(group_of(rank, buffer.name), buffer, plain);
      parts_.comm.activity().advance();
    }
  }
  if (has_model_of_its_own()) {
    const Consensus::Loan loan(*parts_.consensus, parts_.strategy.has_centre() ? Model::centre : Model::average);
    const Buffer model{"model", parts_.network.weights(), false};
    try_write(model.name, model, plain_of(model));
  }
  if (failure) std::rethrow_exception(failure);
}

void Snapshot::load(const CheckpointReader* reader) const
{
  for (const auto& buffer : buffers()) buffer.per_rank ? load_own(buffer, reader) : load_shared(buffer, reader);
}

void Snapshot::load_shared(const Buffer& buffer, const CheckpointReader* reader) const
{
  auto plain = plain_of(buffer);
  if (reader != nullptr) read(*reader, buffer.name, buffer, plain);
  parts_.comm.broadcast_record(plain);
  restore(buffer, plain);
}

void Snapshot::begin(const Start* start) const
{
  auto plain = start != nullptr ? start->weights : parts_.network.plain_weights();
  parts_.comm.broadcast_record(plain);
  parts_.network.pack(plain, parts_.network.weights());
  const auto* optimizer = start != nullptr && start->optimizer ? &*start->optimizer : nullptr;
  if (parts_.comm.broadcast_text(optimizer != nullptr ? "optimizer" : "").empty()) return;
  for (const auto& buffer : buffers())
    if (buffer.name.starts_with("optimizer/")) load_shared(buffer, optimizer);
}

void Snapshot::load_own(const Buffer& buffer, const CheckpointReader* reader) const
{
  auto plain = plain_of(buffer);
  for (int rank = 1; rank < parts_.comm.size(); ++rank) {
    if (reader != nullptr) read(*reader, group_of(rank, buffer.name), buffer, plain);
    parts_.comm.send_from_root(plain, rank);
  }
  if (reader != nullptr) read(*reader, group_of(0, buffer.name), buffer, plain);
  restore(buffer, plain);
}

void Snapshot::write(CheckpointWriter& writer, const std::string& group, const Buffer& buffer, std::span<const float> plain) const
{
  for (const auto& parameter : parts_.network.parameters()) {
    const auto dims = dims_of(parameter, buffer);
    writer.write(group + "/" + parameter.name, plain.first(element_count(dims)));
    plain = plain.subspan(element_count(dims));
  }
}

void Snapshot::read(const CheckpointReader& reader, const std::string& group, const Buffer& buffer, std::span<float> plain) const
{
  for (const auto& parameter : parts_.network.parameters()) {
    const auto dims = dims_of(parameter, buffer);
    reader.read(group + "/" + parameter.name, dims, plain.first(element_count(dims)));
    plain = plain.subspan(element_count(dims));
  }
}

} // namespace dt::train
