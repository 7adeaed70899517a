#include "cli/planning/run_files.hpp"

#include "cli/runs/checkpoints.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/attempt_files.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// A file that runs leave, and the key of a recipe that names it by its run.
struct RunFile {
  std::string key;                                                     // "train.start_from"
  std::string one, none;                                               // "a checkpoint", "no checkpoint; it does with …"
  std::function<std::optional<fs::path>(const fs::path& folder)> find; // in the folder of a run

  [[noreturn]] void refuse(const std::string& why) const { throw Error(ErrorKind::recipe, key + ": " + why); }
};

// The only run of the most recently submitted study that has left such a file. Throws a recipe error if there is none or more
// than one.
fs::path last_run_with(const RunFile& file, const Home& home)
{
  std::optional<StudyRecord> last;
  for (const auto& id : names_in(home.studies()))
    if (auto study = read_study(home.study(id)); study && (!last || study->submitted_unix_s > last->submitted_unix_s))
      last = std::move(study);
  if (!last) file.refuse("`last` means the newest study, but nothing has been submitted yet");
  std::vector<std::string> keys;
  for (const auto& key : last->run_keys)
    if (file.find(home.run(key))) keys.push_back(key);
  if (keys.size() == 1) return home.run(keys.front());
  const auto study = "the newest study, " + printable(last->name) + ",";
  if (keys.empty()) file.refuse("last: " + study + " has left " + file.none);
  file.refuse("last: " + std::to_string(keys.size()) + " runs of " + study + " have left " + file.one +
              "; give the key of one, such as " + short_key(keys.front()));
}

// Throws a recipe error if `named`, which is no file and no run, is the name of a study.
void refuse_study(const RunFile& file, const Home& home, const fs::path& named)
{
  for (const auto& id : names_in(home.studies()))
    if (const auto study = read_study(home.study(id)); study && study->name == named.filename() && !study->run_keys.empty())
      file.refuse(printable(study->name) + " is a study. Name one of its runs by its key, such as " +
                  short_key(study->run_keys.front()) + ", or write `last` for the newest study");
}

// The file that `named` names: itself, or that of a run. `named` is returned unchanged if it is neither a file nor a run.
std::string file_named(const RunFile& file, const Home& home, const std::string& named)
{
  const fs::path path(named);
  std::error_code unknown;
  if (named.empty() || fs::is_regular_file(path, unknown)) return named;
  const bool is_folder = fs::is_directory(path, unknown);
  const bool is_last = !is_folder && path.filename() == "last";
  const auto run = is_folder ? std::optional(path)
                   : is_last ? std::optional(last_run_with(file, home))
                             : run_of_key(home, path.filename().string());
  if (!run) refuse_study(file, home, path);
  if (!run) return named;
  const auto found = file.find(*run);
  if (!found) file.refuse("run " + run->string() + " has left " + file.none);
  return found->string();
}

std::optional<fs::path> last_checkpoint_in(const fs::path& run_folder)
{
  const auto found = checkpoints_of(run_folder);
  return found.empty() ? std::nullopt : std::optional(found.front().path);
}

} // namespace

std::string start_file(const Home& home, const std::string& named)
{
  return file_named(
      {"train.start_from", "a checkpoint", "no checkpoint; it does with train.final_checkpoint: true", last_checkpoint_in}, home,
      named);
}

std::string algorithms_file(const Home& home, const std::string& named)
{
  const RunFile file{
      "train.algorithms_from", "a list of algorithms",
      "no list of algorithms (algorithms.json); a run does when its training begins, if its network has convolutions",
      [](const fs::path& run_folder) { return recorded_algorithms(run_folder); }};
  const auto found = file_named(file, home, named);
  if (!is_there(found))
    file.refuse(found +
                ": there is no such file. Give a run's key, `last`, or the path of a run's folder or of an algorithms.json");
  return found;
}

Algorithms fixed_algorithms(const Home& home, const TrainSpec& train)
{
  const bool is_file = !train.algorithms_from.empty();
  const std::string key = is_file ? "train.algorithms_from" : "train.algorithm_list";
  const auto algorithms = [&] {
    if (!is_file) return algorithms_of_lines(train.algorithm_list, key);
    const auto file = algorithms_file(home, train.algorithms_from);
    return parse_algorithms(read_file(file), key + ": " + file);
  }();
  if (const auto why = algorithms_misfit(algorithms, train.winograd, train.precision))
    throw Error(ErrorKind::recipe, key + ": " + *why);
  return algorithms;
}

} // namespace dt::cli
