#include "cli/planning/source_state.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr double patience_s = 10; // a large repository on a slow disk needs time
constexpr std::size_t longest_diff = std::size_t{1} << 20;

// Why git cannot say anything; empty if the folder lies in no repository.
struct NoAnswer {
  std::string why;
};

// Returns what `git words…` prints in the folder: at most one byte more than `longest_diff`, because a diff may be larger than
// the memory.
std::string git(const std::filesystem::path& folder, const std::vector<std::string>& words)
{
  std::vector<std::string> command{"sh", "-c", "most=$1; shift; \"$@\" | head -c $most", "sh", std::to_string(longest_diff + 1)};
  command.insert(command.end(), {"env", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "git", "-C", folder.string()});
  command.insert(command.end(), words.begin(), words.end());
  const auto result = run_command(command, patience_s);
  if (result.timed_out) throw NoAnswer{fmt::format("git took more than {:.0f} s", patience_s)};
  if (result.err.find("not a git repository") != std::string::npos) throw NoAnswer{};
  if (result.err.starts_with("env: ")) throw NoAnswer{"git is not installed here"};
  if (const auto at = result.err.find("fatal: "); at != std::string::npos)
    throw NoAnswer{printable(result.err.substr(at + 7, result.err.find('\n', at) - at - 7))};
  return result.out;
}

// Keeps the diff, with the commit and the unknown files at its head, where `git apply` overlooks them. Returns its name in the
// home.
std::string keep_diff(const std::string& head, std::string diff, const std::filesystem::path& sources)
{
  const bool is_cut = diff.size() > longest_diff;
  if (is_cut) diff.resize(longest_diff);
  const auto text = head + (is_cut ? "The diff is longer; this is its first MiB.\n\n" : "\n") + diff;
  const auto name = hash_hex(text) + ".patch";
  make_folders(sources);
  write_file_atomic(sources / name, text);
  return fmt::format("sources/{} of the home, {}{}", name, format_bytes(static_cast<double>(text.size())), is_cut ? ", cut" : "");
}

std::string state_of(const std::filesystem::path& folder, const std::filesystem::path& sources)
{
  const auto commit = std::string(trim(git(folder, {"rev-parse", "--verify", "--quiet", "HEAD"})));
  const auto branch = std::string(trim(git(folder, {"branch", "--show-current"})));
  const auto name =
      commit.empty() ? std::string("no commit yet") : commit + (branch.empty() ? "" : " (" + printable(branch) + ")");
  std::size_t changed = 0, unknown = 0;
  std::string unknown_names;
  for (const auto& line : split(git(folder, {"status", "--porcelain", "--untracked-files=no"}), '\n'))
    changed += line.empty() ? 0 : 1;
  for (const auto& line :
       split(git(folder, {"ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory"}), '\n'))
    if (!line.empty()) {
      ++unknown;
      unknown_names += "  " + printable(line) + "\n";
    }
  if (changed + unknown == 0) return name + ", clean";
  std::vector<std::string> parts{name};
  if (changed > 0) parts.push_back(counted(changed, "file") + " changed");
  if (unknown > 0) parts.push_back(fmt::format("{} not in git", unknown));
  const auto head =
      "commit " + name + "\n" + (unknown > 0 ? "Not in git, in " + printable(folder.string()) + ":\n" + unknown_names : "");
  const auto diff = commit.empty() ? std::string() : git(folder, {"diff", "--no-color", "--no-ext-diff", "HEAD"});
  return join(parts, ", ") + "; diff: " + keep_diff(head, diff, sources);
}

} // namespace

std::string source_state(const std::filesystem::path& folder, const std::filesystem::path& sources)
{
  if (const char* given = std::getenv("DTCTL_GIT_STATE")) return given;
  try {
    return state_of(folder, sources);
  } catch (const NoAnswer& answer) {
    return answer.why.empty() ? "" : "unknown: " + answer.why;
  } catch (const Error& error) { // git or the home cannot be used
    return std::string("unknown: ") + error.what();
  }
}

} // namespace dt::cli
