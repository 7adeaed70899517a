#include "jobs/machine/powercap.hpp"

#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) { return std::string(trim(text_if_readable(file))); }

std::optional<std::uint64_t> number_in(const fs::path& file) { return number_of<std::uint64_t>(text_of(file)); }

// The folders in it, by name.
std::vector<fs::path> folders_in(const fs::path& folder)
{
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, none)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// "intel-rapl:0", also of AMD's processors. intel-rapl-mmio counts the same energy again.
bool is_zone(const fs::path& path, std::ptrdiff_t colons)
{
  const auto name = path.filename().string();
  return name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == colons;
}

} // namespace

fs::path Powercap::default_folder()
{
  const char* other = std::getenv("DTCTL_POWERCAP");
  return other != nullptr && *other != '\0' ? other : "/sys/class/powercap";
}

Powercap::Powercap(fs::path folder)
{
  for (const auto& zone : folders_in(folder))
    if (is_zone(zone, 1)) add(zone, true);
  if (domains_.empty() && why_.empty()) why_ = "no processor's energy counter in " + folder.string();
  if (!why_.empty()) domains_.clear();
}

// Whole platforms (psys) contain the packages, and cores are part of one.
void Powercap::add(const fs::path& folder, bool is_package)
{
  const auto name = text_of(folder / "name");
  if (!name.starts_with(is_package ? "package" : "dram")) return;
  Domain domain{.file = folder / "energy_uj", .name = name, .range_uj = number_in(folder / "max_energy_range_uj").value_or(0)};
  if (!number_in(domain.file)) {
    why_ = "powercap is not readable: " + domain.file.string();
    return;
  }
  domains_.push_back(std::move(domain));
  if (!is_package) return;
  for (const auto& zone : folders_in(folder))
    if (is_zone(zone, 2)) add(zone, false);
}

std::string Powercap::domains() const
{
  std::vector<std::string> names;
  for (const auto& domain : domains_) names.push_back(domain.name);
  return join(names, ", ");
}

double Powercap::joules()
{
  double sum = domains_.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (auto& domain : domains_) {
    const auto now_uj = number_in(domain.file);
    if (!now_uj) return std::numeric_limits<double>::quiet_NaN();
    const auto before_uj = domain.last_uj.value_or(*now_uj);
    const auto wrapped_uj = *now_uj < before_uj ? domain.range_uj : 0;
    domain.joules += 1e-6 * static_cast<double>(*now_uj + wrapped_uj - before_uj);
    domain.last_uj = now_uj;
    sum += domain.joules;
  }
  return sum;
}

} // namespace dt::jobs
