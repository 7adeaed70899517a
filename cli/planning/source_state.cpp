#include "cli/planning/source_state.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/machine/process.hpp"
#include "core/program/program_files.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr double patience_s = 10; // a large repository on a slow disk needs time
constexpr std::size_t longest_diff = std::size_t{1} << 20, longest_list = std::size_t{64} << 20;

// Why git cannot say anything; empty if the folder lies in no repository.
struct NoAnswer {
  std::string why;
};

// The environment of git: that of this process without the variables that change what git looks at or prints.
std::map<std::string, std::string> environment_of_git()
{
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (!name.starts_with("GIT_") && name != "LC_ALL" && name != "LANGUAGE")
      variables.emplace(name, text.substr(std::min(text.size(), name.size() + 1)));
  }
  for (const auto& [name, value] : {std::pair{"LC_ALL", "C"},
                                    {"GIT_OPTIONAL_LOCKS", "0"},
                                    {"GIT_TERMINAL_PROMPT", "0"},
                                    {"GIT_NO_LAZY_FETCH", "1"},
                                    {"GIT_LITERAL_PATHSPECS", "1"}})
    variables[name] = value;
  return variables;
}

std::string error_of_git(const std::string& err)
{
  for (const std::string_view mark : {"fatal: ", "error: "})
    if (const auto at = err.find(mark); at != std::string::npos)
      return printable(err.substr(at + mark.size(), err.find('\n', at) - at - mark.size()));
  return printable(last_line(err));
}

bool has_repository(const fs::path& folder)
{
  for (auto place = fs::absolute(folder).lexically_normal(); place != place.parent_path(); place = place.parent_path())
    if (is_there(place / ".git")) return true;
  return false;
}

// Returns what `git words…` prints in the folder: at most one byte more than `most`, because a diff may be larger than the
// memory. Its settings that change the form of answers are overruled here or by the words.
std::string git(const fs::path& folder, const Words& words, std::size_t most = longest_list)
{
  Words command{"sh", "-c", R"(most=$1; shift; { "$@"; echo "exit $?" >&2; } | head -c $most)", "sh", std::to_string(most + 1)};
  command.insert(command.end(), {"git", "-C", folder.string()});
  for (const auto* setting :
       {"core.fsmonitor=false", "core.safecrlf=false", "diff.autoRefreshIndex=true", "diff.relative=false", "color.ui=false"})
    command.insert(command.end(), {"-c", setting});
  command.insert(command.end(), words.begin(), words.end());
  const auto environment = environment_of_git();
  const auto result = run_command(command, CommandSetting{.timeout_s = patience_s, .environment = &environment});
  if (result.timed_out) throw NoAnswer{fmt::format("git took more than {:.0f} s", patience_s)};
  const auto code = last_line(result.err);
  if (code == "exit 127") throw NoAnswer{"git is not installed here"};
  if (code == "exit 0" || result.out.size() > most) return result.out;
  if (result.err.find("not a git repository") == std::string::npos) throw NoAnswer{"git says: " + error_of_git(result.err)};
  throw NoAnswer{has_repository(folder) ? "git says: " + error_of_git(result.err) : ""};
}

Words listed(const std::string& answer)
{
  auto entries = split(answer, '\0');
  std::erase(entries, "");
  return entries;
}

// What `git diff` prints with them is understood by `git apply`.
const Words& diff_words()
{
  static const Words words{"diff",         "--no-color",  "--no-ext-diff", "--no-textconv",         "--no-renames",
                           "--full-index", "--unified=3", "-O/dev/null",   "--inter-hunk-context=0"};
  return words;
}

// What differs from a commit.
struct Changes {
  std::size_t files = 0;
  std::string diff, unknown_names; // of files that git does not know
  std::size_t unknown = 0;
  std::set<std::string> missing;    // what the diff lacks
  std::set<std::string> submodules; // whose files it changes

  void add_unknown(const fs::path& folder, const std::string& prefix);
  void add_files(const fs::path& top, const std::string& commit, const std::string& prefix);
  void add_submodule(const fs::path& top, const Words& modes, const std::string& name, const std::string& prefix);
  void find_filtered(const fs::path& top, const Words& names, const std::string& prefix);
  void find_hidden(const fs::path& top, const std::string& prefix);
};

void Changes::add_unknown(const fs::path& folder, const std::string& prefix)
{
  for (const auto& name :
       listed(git(folder, {"ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory"}))) {
    ++unknown;
    unknown_names += "  " + printable(prefix + name) + "\n";
  }
}

// The contents of a file that passes through a filter (Git LFS) lie elsewhere; the diff has what git keeps for them.
void Changes::find_filtered(const fs::path& top, const Words& names, const std::string& prefix)
{
  constexpr std::size_t at_once = 1000;
  for (std::size_t begin = 0; begin < names.size(); begin += at_once) {
    Words words{"check-attr", "-z", "filter", "--"};
    words.insert(words.end(), names.begin() + static_cast<std::ptrdiff_t>(begin),
                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), begin + at_once)));
    const auto answer = listed(git(top, words)); // name, "filter", value
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3)
      if (answer[i + 2] != "unspecified" && answer[i + 2] != "unset")
        missing.insert(fmt::format("the contents of {}, which pass through the filter {}", printable(prefix + answer[i]),
                                   printable(answer[i + 2])));
  }
}

// git does not look at files that are marked so.
void Changes::find_hidden(const fs::path& top, const std::string& prefix)
{
  std::size_t hidden = 0;
  for (const auto& line : listed(git(top, {"ls-files", "-z", "-v"})))
    if (std::islower(static_cast<unsigned char>(line[0])) != 0 || (line[0] == 'S' && is_there(top / line.substr(2)))) ++hidden;
  if (hidden > 0)
    missing.insert(fmt::format("changes of {} that {} marked assume-unchanged or skip-worktree{}", counted(hidden, "file"),
                               hidden == 1 ? "is" : "are", prefix.empty() ? "" : " in " + printable(prefix)));
}

void Changes::add_files(const fs::path& top, const std::string& commit, const std::string& prefix)
{
  auto words = diff_words();
  words.insert(words.end(), {"--raw", "-z", "--no-abbrev", "--ignore-submodules=none", commit});
  const auto raw = listed(git(top, words)); // ":100644 100644 id id M", name
  Words names;
  for (std::size_t i = 0; i + 1 < raw.size(); i += 2) {
    const auto modes = split(raw[i], ' ');
    if (modes[0] == ":160000" || modes[1] == "160000")
      add_submodule(top, modes, raw[i + 1], prefix);
    else
      names.push_back(raw[i + 1]);
  }
  files += names.size();
  find_filtered(top, names, prefix);
  find_hidden(top, prefix);
  if (names.empty() || diff.size() > longest_diff) return;
  words = diff_words();
  words.insert(words.end(),
               {"--binary", "--ignore-submodules=all", "--src-prefix=a/" + prefix, "--dst-prefix=b/" + prefix, commit});
  diff += git(top, words, longest_diff - diff.size());
}

// `modes`: what `git diff --raw` says about the submodule.
void Changes::add_submodule(const fs::path& top, const Words& modes, const std::string& name, const std::string& prefix)
{
  const auto place = printable(prefix + name);
  if (modes[0] != ":160000" || modes[1] != "160000") {
    missing.insert(fmt::format("the submodule {}, which was {}", place, modes[1] == "160000" ? "added" : "removed"));
    ++files;
  } else {
    try {
      add_unknown(top / name, prefix + name + "/");
      const auto before = files;
      add_files(top / name, modes[2], prefix + name + "/");
      if (files > before) submodules.insert(place);
    } catch (const NoAnswer& answer) {
      missing.insert(fmt::format("the submodule {}: {}", place, answer.why));
      ++files;
    }
  }
}

// Keeps the diff, with the commit and the unknown files at its head, where `git apply` overlooks them. Returns its name in the
// home.
std::string keep_diff(std::string head, Changes& changes, const fs::path& sources)
{
  if (changes.diff.size() > longest_diff) {
    changes.diff.resize(longest_diff);
    changes.missing.insert("what follows the first MiB");
  }
  const auto missing = join(Words(changes.missing.begin(), changes.missing.end()), "; ");
  if (!missing.empty()) head += "The diff is incomplete. It lacks " + missing + ".\n";
  const auto submodules = join(Words(changes.submodules.begin(), changes.submodules.end()), ", ");
  if (!submodules.empty())
    head +=
        "It changes files of the submodules " + submodules + ". Before `git apply`: git submodule update --init --recursive\n";
  const auto text = head + "\n" + changes.diff;
  const auto name = hash_hex(text) + ".patch";
  make_folders(sources);
  write_file_atomic(sources / name, text);
  return fmt::format("sources/{} of the home, {}{}{}", name, format_bytes(static_cast<double>(text.size())),
                     submodules.empty() ? "" : ", with files of the submodules " + submodules,
                     missing.empty() ? "" : ", incomplete: it lacks " + missing);
}

// Names of files of the programs that are not in git, as the programs name them. A symbolic link counts as the file to which it
// leads.
Words programs_not_in_git(const fs::path& top, const std::vector<ProgramSpec>& programs)
{
  std::map<std::string, std::string> names; // in the repository -> in the program
  std::set<std::string> not_in_git;
  for (const auto& program : programs)
    for (const auto& file : program_files(program)) {
      const auto inside = fs::canonical(file.path).lexically_relative(top);
      if (inside.empty() || *inside.begin() == "..")
        not_in_git.insert(file.name);
      else
        names.emplace(inside.string(), file.name);
    }
  Words words{"ls-files", "-z", "--recurse-submodules", "--"};
  for (auto next = names.begin(); next != names.end();) {
    words.resize(4);
    for (std::size_t i = 0; i < 1000 && next != names.end(); ++i) words.push_back((next++)->first);
    for (const auto& known : listed(git(top, words))) names.at(known).clear();
  }
  for (const auto& [path, name] : names)
    if (!name.empty()) not_in_git.insert(name);
  return {not_in_git.begin(), not_in_git.end()};
}

std::string words_of(Words names)
{
  const auto count = names.size();
  if (count > 3) names = {names[0], names[1], fmt::format("{} more", count - 2)};
  for (auto& name : names) name = printable(name);
  const auto last = names.back();
  names.pop_back();
  return (names.empty() ? "" : join(names, ", ") + " and ") + last + (count == 1 ? " is" : " are") + " not in git";
}

// The commit; empty if there is none yet.
std::string commit_in(const fs::path& top)
{
  try {
    return std::string(trim(git(top, {"rev-parse", "--verify", "HEAD"})));
  } catch (const NoAnswer&) {
    try {
      git(top, {"symbolic-ref", "HEAD"}); // of a branch that has no commit yet, too
    } catch (const NoAnswer&) {
      throw NoAnswer{"HEAD of the repository is broken: it names no commit"};
    }
    return {};
  }
}

std::string state_of(const fs::path& folder, const fs::path& sources, const std::vector<ProgramSpec>& programs)
{
  const auto top = fs::path(trim(git(folder, {"rev-parse", "--show-toplevel"})));
  const auto commit = commit_in(top);
  const auto branch = std::string(trim(git(top, {"branch", "--show-current"})));
  const auto name =
      commit.empty() ? std::string("no commit yet") : commit + (branch.empty() ? "" : " (" + printable(branch) + ")");
  Changes changes;
  changes.add_unknown(folder, "");
  changes.add_files(top, commit.empty() ? std::string(trim(git(top, {"hash-object", "-t", "tree", "/dev/null"}))) : commit, "");
  Words parts{name};
  if (const auto names = programs_not_in_git(top, programs); !names.empty()) parts.push_back(words_of(names));
  if (changes.files > 0) parts.push_back(counted(changes.files, "file") + " changed");
  if (changes.unknown > 0) parts.push_back(fmt::format("{} not in git", changes.unknown));
  if (parts.size() == 1 && changes.missing.empty()) return name + ", clean";
  auto head = "commit " + name + "\n" +
              (changes.unknown > 0 ? "Not in git, in " + printable(folder.string()) + ":\n" + changes.unknown_names : "");
  const auto text = join(parts, ", ");
  if (changes.files + changes.unknown + changes.missing.size() == 0) return text;
  return text + "; diff: " + keep_diff(std::move(head), changes, sources);
}

} // namespace

std::string source_state(const fs::path& folder, const fs::path& sources, const std::vector<ProgramSpec>& programs)
{
  if (const char* given = std::getenv("DTCTL_GIT_STATE")) return given;
  try {
    return state_of(folder, sources, programs);
  } catch (const NoAnswer& answer) {
    return answer.why.empty() ? "" : "unknown: " + answer.why;
  } catch (const std::exception& error) { // git, the home or the program's files cannot be used
    return std::string("unknown: ") + error.what();
  }
}

} // namespace dt::cli
