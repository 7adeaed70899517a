#include "engine/nn/choice/algorithms_cache.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/spec/run_key.hpp"

#include <fstream>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {
namespace {

// The lines of the first core in /proc/cpuinfo that say its model and its instruction sets ("Features" on Arm).
std::string processor_text()
{
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features")) text += line + "\n";
  return text;
}

std::string library_text()
{
  const auto* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} {}\n", version->major, version->minor, version->patch, version->hash);
}

// Changes with our own kernels. Empty for a program without a build id.
std::string program_text()
{
  try {
    return "program " + read_build_id("/proc/self/exe") + "\n";
  } catch (const Error&) {
    return {};
  }
}

} // namespace

AlgorithmsCache::AlgorithmsCache(std::filesystem::path folder, const std::string& network) : folder_(std::move(folder))
{
  if (!folder_.empty())
    file_ = folder_ / ("algorithms-" + hash_hex(processor_text() + library_text() + program_text() + network));
}

std::optional<Algorithms> AlgorithmsCache::read() const
{
  if (folder_.empty()) return {};
  try {
    const auto text = read_file_if_exists(file_);
    return text ? std::optional(parse_algorithms(*text, file_.string())) : std::nullopt;
  } catch (const Error&) {
    return {};
  }
}

void AlgorithmsCache::write(const Algorithms& algorithms) const
{
  if (folder_.empty()) return;
  try {
    make_folders(folder_);
    write_file_atomic(file_, to_json(algorithms));
  } catch (const Error&) {
    return;
  }
}

} // namespace dt::nn
