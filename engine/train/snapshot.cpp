#include "engine/train/snapshot.hpp"

#include <exception>
#include <numeric>

#include <fmt/format.h>

namespace dt::engine {
namespace {

std::size_t elements(const Parameter& parameter)
{
  return static_cast<std::size_t>(
      std::accumulate(parameter.dims.begin(), parameter.dims.end(), std::int64_t{1}, std::multiplies<>()));
}

std::string group_of(int rank, const std::string& buffer) { return fmt::format("ranks/{}/{}", rank, buffer); }

} // namespace

std::vector<Snapshot::Buffer> Snapshot::buffers() const
{
  const bool differ = !parts_.strategy.replicated();
  std::vector<Buffer> all{{"weights", parts_.network.weights(), differ}};
  for (const auto& state : parts_.optimizer.state()) all.push_back({"optimizer/" + state.name, state.values, differ});
  for (const auto& state : parts_.strategy.state()) all.push_back({"strategy/" + state.name, state.values, state.per_rank});
  return all;
}

void Snapshot::save(CheckpointWriter* writer) const
{
  std::exception_ptr failure;
  const auto try_write = [&](const std::string& group, std::span<const float> plain) {
    try {
      if (writer != nullptr && !failure) write(*writer, group, plain);
    } catch (const std::exception&) {
      failure = std::current_exception(); // the other ranks still send
    }
  };
  for (const auto& buffer : buffers()) {
    parts_.comm.activity().advance();
    auto plain = parts_.network.plain_of(buffer.packed);
    try_write(buffer.per_rank ? group_of(0, buffer.name) : buffer.name, plain);
    for (int rank = 1; buffer.per_rank && rank < parts_.comm.size(); ++rank) {
      parts_.comm.bring_to_root(plain, rank);
      try_write(group_of(rank, buffer.name), plain);
      parts_.comm.activity().advance();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Snapshot::load(const CheckpointReader* reader) const
{
  for (const auto& buffer : buffers()) buffer.per_rank ? load_own(buffer, reader) : load_shared(buffer, reader);
}

void Snapshot::load_shared(const Buffer& buffer, const CheckpointReader* reader) const
{
  auto plain = empty();
  if (reader != nullptr) read(*reader, buffer.name, plain);
  parts_.comm.broadcast_record(plain);
  parts_.network.pack(plain, buffer.packed);
}

void Snapshot::load_own(const Buffer& buffer, const CheckpointReader* reader) const
{
  auto plain = empty();
  for (int rank = 1; rank < parts_.comm.size(); ++rank) {
    if (reader != nullptr) read(*reader, group_of(rank, buffer.name), plain);
    parts_.comm.send_from_root(plain, rank);
  }
  if (reader != nullptr) read(*reader, group_of(0, buffer.name), plain);
  parts_.network.pack(plain, buffer.packed);
}

void Snapshot::write(CheckpointWriter& writer, const std::string& group, std::span<const float> plain) const
{
  for (const auto& parameter : parts_.network.parameters()) {
    writer.write(group + "/" + parameter.name, parameter.dims, plain.first(elements(parameter)));
    plain = plain.subspan(elements(parameter));
  }
}

void Snapshot::read(const CheckpointReader& reader, const std::string& group, std::span<float> plain) const
{
  for (const auto& parameter : parts_.network.parameters()) {
    reader.read(group + "/" + parameter.name, parameter.dims, plain.first(elements(parameter)));
    plain = plain.subspan(elements(parameter));
  }
}

} // namespace dt::engine
