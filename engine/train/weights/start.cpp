#include "engine/train/weights/start.hpp"

#include "core/error.hpp"
#include "core/spec/run_key.hpp"
#include "engine/train/weights/npz.hpp"
#include "engine/train/weights/safetensors.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

std::string shape(std::span<const std::int64_t> dims) { return fmt::format("{}", fmt::join(dims, "x")); }

[[noreturn]] void refuse(const fs::path& path, const std::string& why)
{
  throw Error(ErrorKind::run, fmt::format("train.start_from: {} does not fit the model: {}", path.string(), why));
}

// Requires that the file has exactly the model's tensors, with equal names and the same numbers in the same order, in any order
// of the tensors.
void require_same(const fs::path& path, const std::vector<TensorName>& tensors, const std::vector<nn::Parameter>& parameters)
{
  std::map<std::string, std::vector<std::int64_t>> rest;
  for (const auto& [name, dims] : tensors) rest[name] = dims;
  for (const auto& parameter : parameters) {
    const auto found = rest.find(parameter.name);
    if (found == rest.end())
      refuse(path, fmt::format("it has no tensor {}, which is {} in the model.", parameter.name, shape(parameter.dims)));
    if (!is_same_order(found->second, parameter.dims))
      refuse(path, fmt::format("tensor {} is {} in the file and {} in the model.", parameter.name, shape(found->second),
                               shape(parameter.dims)));
    rest.erase(found);
  }
  if (!rest.empty())
    refuse(path, fmt::format("its tensor {}, {}, is not in the model.", rest.begin()->first, shape(rest.begin()->second)));
}

std::vector<float> read_group(const CheckpointReader& reader, const std::string& group,
                              const std::vector<nn::Parameter>& parameters)
{
  std::vector<float> plain;
  for (const auto& parameter : parameters) {
    plain.resize(plain.size() + element_count(parameter.dims));
    const auto values = std::span(plain).last(element_count(parameter.dims));
    reader.read(group + "/" + parameter.name, parameter.dims, values);
    require_finite(reader.path(), group + "/" + parameter.name, values);
  }
  return plain;
}

Start from_checkpoint(const fs::path& path, const std::vector<nn::Parameter>& parameters, const std::string& optimizer)
{
  CheckpointReader reader(path);
  const auto group = model_group(reader);
  require_same(path, reader.tensors(group), parameters);
  Start start{read_group(reader, group, parameters), std::nullopt, {}};
  const bool takes_buffers = group == "weights" && reader.owner().optimizer == optimizer && !reader.tensors("optimizer").empty();
  start.origin = fmt::format("step {} of run {}: {}", reader.progress().step, short_key(reader.owner().run_key),
                             takes_buffers ? "weights and the optimizer's buffers" : "weights");
  if (takes_buffers) start.optimizer = std::move(reader);
  return start;
}

std::unique_ptr<const WeightsFile> open_weights(const fs::path& path)
{
  if (path.extension() == ".npz") return std::make_unique<NpzReader>(path);
  if (path.extension() == ".safetensors") return std::make_unique<SafetensorsReader>(std::make_unique<InputFile>(path));
  throw Error(ErrorKind::usage,
              fmt::format("read {}: weights are read from files whose names end in .safetensors or .npz.", path.string()));
}

Start from_weights(const fs::path& path, const std::vector<nn::Parameter>& parameters)
{
  const auto file = open_weights(path);
  const auto& tensors = file->tensors();
  require_same(path, tensors, parameters);
  Start start{{}, std::nullopt, "weights in " + path.filename().string()};
  for (const auto& parameter : parameters) {
    const auto place = std::ranges::find(tensors, parameter.name, &TensorName::name) - tensors.begin();
    start.weights.resize(start.weights.size() + element_count(parameter.dims));
    const auto values = std::span(start.weights).last(element_count(parameter.dims));
    file->read(static_cast<std::size_t>(place), values);
    require_finite(path, parameter.name, values);
  }
  return start;
}

} // namespace

Start read_start(const fs::path& path, const std::vector<nn::Parameter>& parameters, const std::string& optimizer)
{
  return is_checkpoint(InputFile(path)) ? from_checkpoint(path, parameters, optimizer) : from_weights(path, parameters);
}

} // namespace dt::train
