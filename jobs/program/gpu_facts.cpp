#include "jobs/program/gpu_facts.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using Facts = std::map<std::string, std::string>;

// "535.129.03" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023".
std::string driver_version(const std::string& text)
{
  for (const auto& word : split(text.substr(0, text.find('\n')), ' '))
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return {};
}

std::string model_in(const std::string& information)
{
  for (const auto& line : split(information, '\n'))
    if (line.starts_with("Model:")) return printable(trim(std::string_view(line).substr(6)));
  return {};
}

Facts facts_of(const std::map<std::string, int>& models, const std::string& driver)
{
  Facts facts;
  if (!driver.empty()) facts["nvidia_driver"] = printable(driver);
  std::string gpus;
  for (const auto& [model, count] : models) gpus += fmt::format("{}{} x {}", gpus.empty() ? "" : ", ", count, model);
  if (!gpus.empty()) facts["node_gpus"] = gpus;
  return facts;
}

Facts facts_of_driver(const fs::path& folder)
{
  std::map<std::string, int> models;
  std::error_code none;
  for (const auto& gpu : fs::directory_iterator(folder / "gpus", none))
    if (const auto model = model_in(text_if_readable(gpu.path() / "information")); !model.empty()) ++models[model];
  return facts_of(models, driver_version(text_if_readable(folder / "version")));
}

Facts facts_of_command()
{
  constexpr double patience_s = 10;
  try {
    const auto result = run_command({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}, patience_s);
    std::map<std::string, int> models;
    std::string driver;
    for (const auto& line : split(result.ok() ? result.out : "", '\n'))
      if (const auto comma = line.rfind(", "); comma != std::string::npos) {
        ++models[printable(line.substr(0, comma))];
        driver = std::string(trim(line.substr(comma + 2)));
      }
    return facts_of(models, driver);
  } catch (const Error&) { // it is not installed
    return {};
  }
}

} // namespace

Facts gpu_facts(const fs::path& proc)
{
  std::error_code none;
  auto facts = facts_of_driver(proc / "driver" / "nvidia");
  return facts.contains("node_gpus") || !fs::exists("/dev/nvidiactl", none) ? facts : facts_of_command();
}

} // namespace dt::jobs
