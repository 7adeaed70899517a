#include "cli/planning/resolve.hpp"

#include "cli/planning/run_files.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/program/program_files.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>
#include <utility>

namespace dt::cli {

bool holds_files(const std::filesystem::path& place)
{
  std::error_code error;
  return std::filesystem::exists(place, error) && (!std::filesystem::is_empty(place, error) || error);
}

Identities::Identities(const Home& home) : home_(home) {}

const std::string& Identities::build_of(const RunSpec& run)
{
  if (run.is_own_program()) return program(run);
  auto& program = run.is_simulated() ? simulator_ : engine_;
  if (program.path.empty()) {
    const auto path = run.is_simulated() ? simulator_program() : engine_program();
    program = {path.string(), read_build_id(path)};
  }
  return program.build;
}

const std::string& Identities::program(const RunSpec& run)
{
  auto inputs = run.program.files;
  inputs.push_back(run.program.command.front());
  inputs.emplace_back(run.is_wrapped() ? "wrapper" : "");
  inputs.emplace_back(name_of(run.program.identity));
  const auto [entry, is_new] = program_ids_.try_emplace(std::move(inputs));
  if (is_new) entry->second = program_id(run);
  return entry->second;
}

const jobs::AskedEnvironment& Identities::environment(const RunSpec& run)
{
  static const jobs::AskedEnvironment none;
  if (!run.is_own_program() || run.program.identity == ProgramIdentity::files) return none;
  const auto [entry, is_new] = environments_.try_emplace(jobs::environment_inputs(run));
  if (is_new) entry->second = jobs::ask_environment(run, agent_program().string(), home_.environments());
  return entry->second;
}

const std::string& Identities::simulation(const RunSpec& run)
{
  const auto [entry, is_new] = simulation_ids_.try_emplace(run.train.compute_profile);
  if (is_new) entry->second = simulation_input(run);
  return entry->second;
}

const std::string& Identities::data(const DataSpec& data)
{
  const auto folder = home_.data_place(data);
  const std::pair key(data.name, folder.string());
  if (const auto known = data_ids_.find(key); known != data_ids_.end()) return known->second;
  const bool is_none = data.name.empty() && data.path.empty();
  return data_ids_[key] = is_none ? "none" : data_id(data, folder); // no entry if this throws
}

const std::string& Identities::start(const std::string& file)
{
  const auto [entry, is_new] = start_ids_.try_emplace(file);
  if (is_new) entry->second = start_id(file);
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
  study.labels = plan.labels;
  for (const auto& run : runs) {
    study.run_keys.push_back(run.key);
    study.run_names.push_back(recipes::run_name(run.spec));
    if (run.spec.control) study.control_keys.push_back(run.key);
  }
  study.id = study_id(study.name, study.run_keys);
  return study;
}

// Adds the variables of program.environment to resources.env, which the job sets and whose values are part of the run's key.
// A variable that is not set here is not set in the job either.
void take_environment(RunSpec& run)
{
  for (const auto& name : run.program.environment)
    if (const char* value = std::getenv(name.c_str())) run.resources.env.emplace(name, value);
}

// The content id of the run's data set. Errors name the place of the data set in the recipe. If the set has no files and that is
// accepted, returns a text that is no id, and sets `why`.
std::string data_of(Identities& identities, const recipes::Plan& plan, const RunSpec& run, MissingData missing, std::string& why)
{
  try {
    return identities.data(run.data);
  } catch (const Error& error) {
    auto text = to_text(plan.finding(run, {"data.set", "data.path", "data.name"}, error.what()));
    if (missing == MissingData::refuse || holds_files(identities.home().data_place(run.data))) throw Error(error.kind(), text);
    why = std::move(text);
    return "missing";
  }
}

// Puts the list that train.algorithms_from names into the spec, so that the run's key contains it. Errors name the place of the
// key in the recipe.
void take_algorithms(const Home& home, const recipes::Plan& plan, RunSpec& run)
{
  auto& train = run.train;
  if (train.algorithms != AlgorithmChoice::fixed) return;
  try {
    train.algorithm_list = algorithm_lines(fixed_algorithms(home, train));
    if (!train.algorithms_from.empty()) train.algorithms_from = algorithms_file(home, train.algorithms_from);
  } catch (const Error& error) {
    throw Error(error.kind(), to_text(plan.finding(run, {"train.algorithms_from", "train.algorithm_list"}, error.what())));
  }
}

} // namespace

Resolved resolve(const Home& home, recipes::Plan plan, MissingData missing)
{
  // An answer about a Python environment is kept in the home, so the home must exist. A plan that is only shown creates no home.
  const auto is_asked = [](const RunSpec& run) { return run.is_own_program() && run.program.identity != ProgramIdentity::files; };
  if (missing == MissingData::refuse && std::any_of(plan.runs.begin(), plan.runs.end(), is_asked)) make_folders(home.root());
  Identities identities(home);
  Resolved resolved{.kind = plan.kind, .engine = {}, .runs = {}, .study = {}, .duplicates = 0};
  std::unordered_set<std::string> seen;
  resolved.runs.reserve(plan.runs.size());
  for (auto& spec : plan.runs) {
    std::string without_data;
    const auto data = spec.is_simulated() ? identities.simulation(spec) : data_of(identities, plan, spec, missing, without_data);
    spec.train.start_from = start_file(home, spec.train.start_from);
    const auto& start = identities.start(spec.train.start_from);
    take_algorithms(home, plan, spec);
    take_environment(spec);
    const auto& build = identities.build_of(spec);
    const auto& environment = identities.environment(spec);
    if (!environment.unknown.empty()) resolved.unasked = environment.unknown;
    auto run = plan_run(std::move(spec), build, data, start, environment.id);
    if (!without_data.empty()) resolved.without_data.emplace(run.key, without_data);
    if (seen.insert(run.key).second)
      resolved.runs.push_back(std::move(run));
    else
      ++resolved.duplicates;
  }
  resolved.engine = identities.engine();
  resolved.simulator = identities.simulator();
  resolved.study = study_of(plan, resolved.runs);
  resolved.notes = std::move(plan.notes);
  resolved.price = std::move(plan.price);
  return resolved;
}

} // namespace dt::cli
