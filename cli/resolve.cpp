#include "cli/resolve.hpp"

#include "cli/checkpoints.hpp"

#include <unordered_set>
#include <utility>

namespace dt::cli {

Identities::Identities(const Home& home) : home_(home), engine_(engine_program().string()), engine_build_(read_build_id(engine_))
{
}

const std::string& Identities::data(const DataSpec& data)
{
  const auto folder = home_.data_folder(data);
  const auto [entry, is_new] = data_ids_.try_emplace({data.name, folder.string()});
  if (is_new) entry->second = data_id(data, folder);
  return entry->second;
}

const std::string& Identities::start(const std::string& file)
{
  const auto [entry, is_new] = start_ids_.try_emplace(file);
  if (is_new) entry->second = start_id(file);
  return entry->second;
}

namespace {

// The file that train.start_from names: as it stands, or of the run in that folder, or of the run of that key, its checkpoint
// of most steps.
std::string start_file(const Home& home, const std::string& named)
{
  const std::filesystem::path path(named);
  std::error_code unknown;
  if (named.empty() || std::filesystem::is_regular_file(path, unknown)) return named;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  const auto run = is_folder ? std::optional(path) : run_of_key(home, path.filename().string());
  if (!run) return named;
  const auto found = checkpoints_of(*run);
  if (found.empty())
    throw Error(ErrorKind::recipe, "train.start_from: run " + run->string() + " has left no checkpoint; it does with train.final_checkpoint: true");
  return found.front().path.string();
}

StudyRecord study_of(const recipes::Plan& plan, const std::vector<PlannedRun>& runs)
{
  StudyRecord study;
  study.name = plan.name;
  study.description = plan.description;
  study.kind = name_of(plan.kind);
  study.recipe_path = std::filesystem::absolute(plan.path).string();
  study.recipe_text = plan.text;
  for (const auto& run : runs) {
    study.run_keys.push_back(run.key);
    study.run_names.push_back(recipes::run_name(run.spec));
    if (run.spec.control) study.control_keys.push_back(run.key);
  }
  study.id = study_id(study.name, study.run_keys);
  return study;
}

} // namespace

Resolved resolve(const Home& home, recipes::Plan plan)
{
  Identities identities(home);
  Resolved resolved{.kind = plan.kind, .engine = identities.engine(), .runs = {}, .study = {}, .duplicates = 0};
  std::unordered_set<std::string> seen;
  resolved.runs.reserve(plan.runs.size());
  for (auto& spec : plan.runs) {
    const auto& data = identities.data(spec.data);
    spec.train.start_from = start_file(home, spec.train.start_from);
    const auto& start = identities.start(spec.train.start_from);
    auto run = plan_run(std::move(spec), identities.engine_build(), data, start);
    if (seen.insert(run.key).second)
      resolved.runs.push_back(std::move(run));
    else
      ++resolved.duplicates;
  }
  resolved.study = study_of(plan, resolved.runs);
  return resolved;
}

} // namespace dt::cli
