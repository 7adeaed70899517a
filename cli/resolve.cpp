#include "cli/resolve.hpp"

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

namespace {

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
    auto run = plan_run(std::move(spec), identities.engine_build(), data);
    if (seen.insert(run.key).second)
      resolved.runs.push_back(std::move(run));
    else
      ++resolved.duplicates;
  }
  resolved.study = study_of(plan, resolved.runs);
  return resolved;
}

} // namespace dt::cli
