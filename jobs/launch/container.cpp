#include "jobs/launch/container.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using ContainerWords = std::vector<std::string>;

// Variables of dtctl, launchers, schedulers and libraries for exchanges that a rank needs.
constexpr std::array<std::string_view, 24> passed{
    "DTCTL_*",    "OMPI_*",     "PMIX_*",  "PMI_*",       "SLURM_*",          "PET_*",      "NCCL_*", "GLOO_*",
    "UCX_*",      "OMP_*",      "TORCH_*", "CUDA_*",      "NVIDIA_*",         "PYTHONPATH", "RANK",   "HF_*",
    "LOCAL_RANK", "WORLD_SIZE", "XLA_*",   "MASTER_ADDR", "PYTHONUNBUFFERED", "JAX_*",      "FI_*",   "MASTER_PORT",
};

bool is_in(const std::string& path, const std::string& folder) { return (path + "/").starts_with(folder + "/"); }

std::string at_same_path(const std::string& path, std::string_view flags = {}) { return path + ":" + path + std::string(flags); }

// "SOURCE:TARGET" and "SOURCE:TARGET:ro" of all mounts, those that dtctl needs first.
ContainerWords mounts_of(const RunSpec& spec, const ContainerPlaces& places)
{
  ContainerWords mounts{at_same_path(places.home)};
  if (const auto modules = report_modules().string(); !modules.empty() && !is_in(modules, places.home))
    mounts.push_back(at_same_path(modules, ":ro"));
  if (!places.data.empty() && !is_in(places.data, places.home)) mounts.push_back(at_same_path(places.data, ":ro"));
  const auto& own = spec.resources.container.mounts;
  mounts.insert(mounts.end(), own.begin(), own.end());
  return mounts;
}

ContainerWords apptainer(const RunSpec& spec, const ContainerPlaces& places)
{
  ContainerWords words{"apptainer", "exec", "--pwd", places.work};
  if (spec.resources.gpus_per_node > 0) words.emplace_back("--nv");
  for (const auto& mount : mounts_of(spec, places)) words.insert(words.end(), {"--bind", mount});
  words.push_back(spec.resources.container.image);
  return words;
}

// The user in the container is root, which without privileges is the user of the job outside, to whom the run's files belong.
ContainerWords podman(const RunSpec& spec, const ContainerPlaces& places)
{
  ContainerWords words{"podman",     "run",        "--rm",       "--network=host",
                       "--ipc=host", "--pid=host", "--user=0:0", "--workdir=" + places.work};
  if (spec.resources.gpus_per_node > 0) words.emplace_back("--device=nvidia.com/gpu=all");
  for (const auto& mount : mounts_of(spec, places)) words.push_back("--volume=" + mount);
  for (const auto name : passed) words.push_back("--env=" + std::string(name));
  for (const auto& [name, value] : spec.resources.env) words.push_back("--env=" + name);
  for (const auto& name : spec.program.environment) words.push_back("--env=" + name);
  words.push_back(spec.resources.container.image);
  return words;
}

// A hash of a file's size, its first and its last MiB; it does not read the rest, because images have many GB. Empty if the file
// cannot be read.
std::string partial_hash(const fs::path& file)
{
  constexpr std::streamoff part = 1 << 20;
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  std::ifstream stream(file, std::ios::binary);
  Hasher hasher;
  hasher.update(std::to_string(size));
  for (const auto begin : {std::streamoff{0}, std::max<std::streamoff>(0, size - part)}) {
    std::string bytes(static_cast<std::size_t>(std::min(part, size)), '\0');
    stream.seekg(begin);
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream) return {};
    hasher.update(bytes);
  }
  return hasher.hex();
}

std::string asked_of_podman(const std::string& image)
{
  constexpr double patience_s = 10;
  const auto answer = run_command({"podman", "image", "inspect", "--format", "{{.Digest}}", image}, patience_s);
  const auto digest = std::string(trim(answer.out));
  return answer.ok() && digest.starts_with("sha256:") ? digest : "unknown: podman tells no digest";
}

std::string digest_of(const ContainerSpec& container)
{
  const auto& image = container.image;
  if (const auto at = image.find("@sha256:"); at != std::string::npos) return image.substr(at + 1);
  try {
    std::error_code unknown;
    if (fs::is_regular_file(image, unknown)) {
      const auto hash = partial_hash(image);
      return hash.empty() ? "unknown: the image cannot be read" : "file-" + hash;
    }
    if (fs::is_directory(image, unknown)) return "unknown: the image is a folder";
    if (container.runtime == ContainerRuntime::podman) return asked_of_podman(image);
  } catch (const std::exception& error) {
    return std::string("unknown: ") + error.what();
  }
  return "unknown: the name of the image has none (@sha256:…)";
}

} // namespace

ContainerWords container_words(const RunSpec& spec, const ContainerPlaces& places)
{
  if (!spec.has_container()) return {};
  switch (spec.resources.container.runtime) {
  case ContainerRuntime::apptainer:
    return apptainer(spec, places);
  case ContainerRuntime::podman:
    return podman(spec, places);
  case ContainerRuntime::pyxis:
    break;
  }
  return {};
}

ContainerWords pyxis_options(const RunSpec& spec, const ContainerPlaces& places, const std::string& agent)
{
  if (!is_made_by_srun(spec)) return {};
  auto mounts = mounts_of(spec, places);
  mounts.push_back(at_same_path(fs::path(agent).parent_path().string(), ":ro"));
  ContainerWords words{"--container-image=" + spec.resources.container.image, "--container-mounts=" + join(mounts, ","),
                       "--no-container-mount-home"};
  ContainerWords names; // whose values in the image would take precedence
  for (const auto& [name, value] : spec.resources.env) names.push_back(name);
  if (!names.empty()) words.push_back("--container-env=" + join(names, ","));
  return words;
}

bool is_made_by_srun(const RunSpec& spec)
{
  return spec.has_container() && spec.resources.container.runtime == ContainerRuntime::pyxis;
}

std::map<std::string, std::string> container_facts(const RunSpec& spec)
{
  if (!spec.has_container()) return {};
  const auto& container = spec.resources.container;
  return {{"container_image", container.image},
          {"container_runtime", std::string(name_of(container.runtime))},
          {"container_digest", digest_of(container)}};
}

} // namespace dt::jobs
