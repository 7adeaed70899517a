#include "cli/checkpoints.hpp"

#include "core/file.hpp"
#include "core/run_record.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace dt::cli {
namespace {

// "step-120.h5" -> 120; 0 for any other name.
std::int64_t step_of(std::string_view name)
{
  constexpr std::string_view before = "step-", after = ".h5";
  if (!name.starts_with(before) || !name.ends_with(after)) return 0;
  const auto digits = name.substr(before.size(), name.size() - before.size() - after.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return error == std::errc() && end == digits.data() + digits.size() && step > 0 ? step : 0;
}

} // namespace

std::int64_t last_checkpoint(const std::filesystem::path& run_folder, int attempt)
{
  std::int64_t latest = 0;
  for (const int number : attempt_numbers(run_folder)) {
    if (number > attempt) continue;
    for (const auto& name : names_in(AttemptFolder(run_folder, number).checkpoints())) latest = std::max(latest, step_of(name));
  }
  return latest;
}

} // namespace dt::cli
