#include "jobs/machine/processor_peak.hpp"

#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/process.hpp"
#include "core/maths/multiply_adds.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::jobs {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path kept_peak(const Home& home, const std::string& model, std::size_t cores)
{
  Hasher hasher;
  hasher.update(fmt::format("{}\n{}", model, cores));
  return home.root() / "peaks" / (hasher.hex().substr(0, 16) + ".json");
}

// The peak that an earlier run has measured. Returns nullopt if the file is missing or damaged; the peak is then measured again.
std::optional<Json> read_kept(const std::filesystem::path& file)
{
  const auto json = Json::parse(read_file_if_exists(file).value_or(""), nullptr, false);
  const bool is_whole = json.is_object() && json.contains("core_flops") && json["core_flops"].is_number() &&
                        json["core_flops"].get<double>() > 0 && json.value("host", Json()).is_string() &&
                        json.value("unix_s", Json()).is_number();
  return is_whole ? std::optional(json) : std::nullopt;
}

} // namespace

std::string cpu_model()
{
  for (const auto& line : split(read_file_if_exists("/proc/cpuinfo").value_or(""), '\n'))
    if (line.starts_with("model name")) return std::string(trim(line.substr(std::min(line.find(':') + 1, line.size()))));
  return {};
}

ProcessorPeak processor_peak(const Home& home)
{
  constexpr double measured_s = 0.3;
  const auto cores = cpu_allowance().cores;
  const auto model = cpu_model();
  const auto file = kept_peak(home, model, cores.size());
  auto kept = read_kept(file);
  if (!kept) {
    const double flops = core_flops(cores, measured_s);
    kept = Json{
        {"processor", model}, {"cores", cores.size()}, {"core_flops", flops}, {"host", host_name()}, {"unix_s", now_unix_s()}};
    if (!std::isnan(flops)) keep_file(file, kept->dump(2) + "\n");
  }
  return {kept->at("core_flops").get<double>(), static_cast<std::int64_t>(cores.size()),
          fmt::format("{}, measured on {} on {}", printable(model.empty() ? "an unknown processor" : model),
                      printable(kept->at("host").get<std::string>()),
                      format_time_local(kept->at("unix_s").get<double>()).substr(0, 10))};
}

} // namespace dt::jobs
