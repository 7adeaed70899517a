#include "engine/train/weights/export_weights.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/units.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "engine/train/weights/npz.hpp"
#include "engine/train/weights/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

// A tensor with its name in the file, and its path in the checkpoint.
struct Exported {
  TensorName tensor;
  std::string path;
};

void add_group(const CheckpointReader& reader, const std::string& group, bool full_names, std::vector<Exported>& all)
{
  for (auto& tensor : reader.tensors(group)) {
    auto path = group + "/" + tensor.name;
    if (full_names) tensor.name = path;
    all.push_back({std::move(tensor), std::move(path)});
  }
}

// Adds each rank's own tensors: "ranks/0/optimizer/velocity/conv1.weight".
void add_ranks(const CheckpointReader& reader, const std::string& what, std::vector<Exported>& all)
{
  for (auto& [name, dims] : reader.tensors("ranks")) {
    const auto slash = name.find('/');
    if (slash == name.npos || !name.substr(slash + 1).starts_with(what + "/")) continue;
    const auto path = "ranks/" + name;
    all.push_back({{path, std::move(dims)}, path});
  }
}

std::vector<Exported> choose(const CheckpointReader& reader, const std::string& what)
{
  std::vector<Exported> all;
  if (what == "weights") {
    add_group(reader, model_group(reader), false, all);
    return all;
  }
  add_group(reader, what, true, all);
  add_ranks(reader, what, all);
  if (all.empty()) throw Error(ErrorKind::run, fmt::format("{} holds no buffers of the {}.", reader.path().string(), what));
  return all;
}

bool is_npz(const fs::path& output)
{
  if (output.extension() == ".npz") return true;
  if (output.extension() == ".safetensors") return false;
  throw Error(ErrorKind::usage,
              fmt::format("{}: weights are written to files whose names end in .safetensors or .npz.", output.string()));
}

// The bytes of the file. Refuses weights that are NaN or infinite. Buffers may contain such values, because they show how a
// training diverged.
std::string file_of(const CheckpointReader& reader, const std::vector<Exported>& chosen, const WeightsExport& options)
{
  const bool to_npz = is_npz(options.output);
  std::vector<TensorName> names;
  for (const auto& exported : chosen) names.push_back(exported.tensor);
  std::string bytes = to_npz ? "" : safetensors_header(names, {});
  NpzWriter npz;
  for (const auto& [tensor, path] : chosen) {
    std::vector<float> values(element_count(tensor.dims));
    reader.read(path, tensor.dims, values);
    if (options.what == "weights") require_finite(reader.path(), path, values);
    if (to_npz)
      npz.add(tensor, values);
    else
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return to_npz ? npz.finish() : bytes;
}

} // namespace

void write_new_file(const fs::path& output, const std::string& bytes, bool force)
{
  if (force) return write_file_atomic(output, bytes, Readers::everybody);
  if (!create_file_exclusive(output, bytes, Readers::everybody))
    throw Error(ErrorKind::usage,
                fmt::format("{} exists already. Name another file, or give --force to replace it.", output.string()));
}

int export_weights(const WeightsExport& options)
{
  const CheckpointReader reader(options.checkpoint);
  const auto chosen = choose(reader, options.what);
  if (options.list) {
    for (const auto& [tensor, path] : chosen) fmt::print("{}\t{}\n", tensor.name, fmt::join(tensor.dims, "x"));
    return 0;
  }
  const auto bytes = file_of(reader, chosen, options);
  write_new_file(options.output, bytes, options.force);
  fmt::print("{}: {} of step {} of run {}: {} tensors, {}\n", options.output.string(), options.what, reader.progress().step,
             short_key(reader.owner().run_key), chosen.size(), format_bytes(static_cast<double>(bytes.size())));
  return 0;
}

} // namespace dt::train
