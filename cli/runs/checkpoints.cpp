#include "cli/runs/checkpoints.hpp"

#include "core/files/file.hpp"
#include "core/record/run_record.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace dt::cli {

std::optional<std::filesystem::path> run_of_key(const Home& home, const std::string& digits)
{
  constexpr std::size_t fewest = 4;
  if (digits.size() < fewest || digits.find_first_not_of("0123456789abcdef") != digits.npos) return std::nullopt;
  std::optional<std::filesystem::path> found;
  for (const auto& key : names_in(home.runs())) {
    if (!key.starts_with(digits)) continue;
    if (found) return std::nullopt;
    found = home.run(key);
  }
  return found;
}

std::vector<NamedCheckpoint> checkpoints_of(const std::filesystem::path& run_folder)
{
  std::vector<NamedCheckpoint> all;
  for (const int number : attempt_numbers(run_folder)) {
    const auto folder = AttemptFolder(run_folder, number).checkpoints();
    for (const auto& name : names_in(folder))
      if (const auto step = checkpoint_step(name).value_or(0); step > 0) all.push_back({number, step, folder / name});
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return std::pair(a.step, a.attempt) > std::pair(b.step, b.attempt); });
  return all;
}

std::int64_t last_checkpoint(const std::filesystem::path& run_folder, int attempt)
{
  for (const auto& checkpoint : checkpoints_of(run_folder))
    if (checkpoint.attempt <= attempt) return checkpoint.step;
  return 0;
}

} // namespace dt::cli
