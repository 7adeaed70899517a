#include "cli/checks/input_checks.hpp"

#include "cli/planning/resolve.hpp"
#include "cli/planning/run_files.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/memory.hpp"
#include "core/number.hpp"
#include "core/program/interpreter.hpp"
#include "core/program/program_files.hpp"
#include "core/spec/compute_profile.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/run_spec.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/spec/simulation_cost.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/machine/gpus.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Checks a run of the user's own program before it is submitted: its files, the program that the command starts, and GPUs.

struct ProgramFinding {
  std::vector<std::string_view> keys;
  std::string message;
  std::optional<std::size_t> element{}; // of the list in keys.front(), from 0
};

using Findings = std::vector<ProgramFinding>;
using Names = std::set<std::string>;

bool runs_here(const RunSpec& run)
{
  const auto& resources = run.resources;
  return scheduler_row(resources.scheduler).uses_this_machine && resources.hosts.empty() && resources.modules.empty() &&
         resources.setup.empty() && resources.setup_before.empty();
}

std::string path_variable(const RunSpec& run)
{
  if (const auto own = run.resources.env.find("PATH"); own != run.resources.env.end()) return own->second;
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

// Why the program that begins a command cannot be started on this machine; empty if it can.
std::string objection_to(const std::string& program, const RunSpec& run)
{
  if (program.find('/') == std::string::npos)
    return !find_program(program, path_variable(run)).empty() ? "" : "there is no program " + program + " in PATH";
  if (!fs::path(program).is_absolute()) return {};
  if (!find_program(program, {}).empty()) return {};
  return fs::exists(program) ? program + " is not executable" : "there is no program " + program;
}

std::string normal(const std::string& word) { return fs::path(word).lexically_normal().string(); }

// Why the program cannot be started from the run's copy of its files; empty if it can, or if it is not of the copy.
std::string objection_in_copy(const std::string& program, const std::vector<ProgramFile>& files)
{
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == normal(program); });
  const bool is_path = program.find('/') != std::string::npos && !fs::path(program).is_absolute();
  if (!is_path && found != files.end()) return program + " is in program.files, but not in PATH; write ./" + program;
  if (!is_path) return {};
  const auto is_inside = [&](const auto& file) { return file.name.starts_with(normal(program) + "/"); };
  if (found == files.end() && std::ranges::any_of(files, is_inside)) return program + " is a folder";
  if (found == files.end()) return program + " is not in program.files, and the program runs in a copy of these files";
  if (found->is_executable) return {};
  return program + " is not executable; make it so (chmod +x), or write its interpreter before it";
}

// Why the kernel cannot start the program although it is there; empty if it can. Elsewhere than here, or in a container, only
// what the file says of itself counts.
std::string objection_to_file(const RunSpec& run, const std::vector<ProgramFile>& files)
{
  const auto& program = run.program.command.front();
  const bool starts_here = !run.is_wrapped() && runs_here(run);
  const auto path = starts_here ? std::optional(path_variable(run)) : std::nullopt;
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == normal(program); });
  auto file = found != files.end() ? found->path : fs::path();
  if (found == files.end() && starts_here) file = find_program(program, *path);
  const auto why = file.empty() ? std::string() : objection_to_start(file, path);
  return why.empty() ? "" : program + " cannot be started: " + why;
}

bool is_interpreter(const std::string& word)
{
  const auto name = fs::path(word).filename().string();
  return name.starts_with("python") || name == "bash" || name == "sh";
}

// A word that names a file which the program will not find, because it is not in program.files.
bool names_missing_file(const std::vector<std::string>& command, std::size_t at, const Names& names, const fs::path& folder)
{
  const auto& word = command[at];
  if (word.empty() || word.starts_with('-') || fs::path(word).is_absolute() || names.contains(normal(word))) return false;
  std::error_code unknown;
  const bool is_script = at == 1 && is_interpreter(command[0]) && (word.ends_with(".py") || word.ends_with(".sh"));
  return is_script || fs::is_regular_file(folder / word, unknown);
}

void check_command(const RunSpec& run, const std::vector<ProgramFile>& files, const fs::path& folder, Findings& findings)
{
  const auto& command = run.program.command;
  Names names;
  for (const auto& file : files) names.insert(file.name);
  auto objection = objection_in_copy(command.front(), files);
  if (objection.empty() && !run.is_wrapped() && runs_here(run)) objection = objection_to(command.front(), run);
  if (objection.empty()) objection = objection_to_file(run, files);
  if (!objection.empty()) findings.push_back({{"program.command"}, "`program.command`: " + printable(objection), 0});
  for (std::size_t i = 1; i < command.size(); ++i)
    if (names_missing_file(command, i, names, folder))
      findings.push_back({{"program.command"},
                          fmt::format("`program.command` names {}, which is not in `program.files`: the program runs in a copy "
                                      "of these files; add it there, or write its absolute path",
                                      printable(command[i])),
                          i});
}

// Returns the mistakes in `program` that would make the run fail: a missing program or file, for example. It looks for the
// program in PATH only if the run is executed on this machine, without modules and set-up lines. `folder` is the recipe's.
std::vector<ProgramFinding> find_program_findings(const RunSpec& run, const fs::path& folder)
{
  Findings findings;
  try {
    check_command(run, program_files(run.program), folder, findings);
    if (findings.empty()) program_id(run); // reads all files
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::recipe) throw;
    findings.push_back({{"program.files", "program.command"}, error.what()});
  }
  return findings;
}

// Returns the mistakes in resources.wrapper, in resources.container and in the numbers of GPUs, of runs of dtengine too.
std::vector<ProgramFinding> find_start_findings(const RunSpec& run)
{
  Findings findings;
  const auto& resources = run.resources;
  if (!resources.wrapper.empty() && runs_here(run))
    if (const auto objection = objection_to(resources.wrapper.front(), run); !objection.empty())
      findings.push_back({{"resources.wrapper"}, "`resources.wrapper`: " + printable(objection), 0});
  const auto runtime = std::string(name_of(resources.container.runtime));
  if (run.has_container() && resources.container.runtime != ContainerRuntime::pyxis && runs_here(run))
    if (const auto objection = objection_to(runtime, run); !objection.empty())
      findings.push_back({{"resources.container.runtime", "resources.container.image"},
                          "`resources.container.runtime`: " + printable(objection)});
  const bool needs_gpus_here = resources.gpus_per_node > 0 && scheduler_row(resources.scheduler).uses_this_machine;
  // If the recipe gives only gpus_per_rank, gpus_per_node was computed from it: the finding names the key that the user wrote.
  const bool is_by_rank =
      resources.gpus_per_rank > 0 && resources.gpus_per_node == resources.gpus_per_rank * resources.ranks_per_node;
  const std::string_view given = is_by_rank ? "resources.gpus_per_rank" : "resources.gpus_per_node";
  if (needs_gpus_here && resources.hosts.empty())
    if (const auto found = jobs::gpus_here(); found < resources.gpus_per_node)
      findings.push_back({{given},
                          fmt::format("`{}` asks for {} on a node, but this machine has {}; run on a cluster "
                                      "(resources.scheduler: slurm), or remove the key",
                                      given, resources.gpus_per_node, found == 0 ? "no GPU" : std::to_string(found))});
  return findings;
}

using Keys = std::vector<std::string_view>;

// Index, counted from 0, of the layer in a message "model.layers, layer 2 (conv3: …): …". Nothing for other messages.
std::optional<std::size_t> layer_of(std::string_view message)
{
  constexpr std::string_view before = "model.layers, layer ";
  if (!message.starts_with(before)) return std::nullopt;
  const auto number = leading_number<std::size_t>(message.substr(before.size())).value_or(0);
  return number > 0 ? std::optional(number - 1) : std::nullopt;
}

// Names of the convolutions in the engine's description of a model.
std::set<std::string> convolutions_of(const Json& model)
{
  std::set<std::string> names;
  for (const auto& layer : model.at("layers"))
    if (layer.at("kind") == "convolution") names.insert(layer.at("name").get<std::string>());
  return names;
}

class InputChecks {
 public:
  InputChecks(const Home& home, const recipes::Plan& plan) : home_(home), plan_(plan) {}

  void check(const RunSpec& run)
  {
    check_scheduler_args(run);
    take(run, find_start_findings(run));
    if (run.is_own_program()) return check_program(run);
    if (run.is_simulated()) return check_simulated(run);
    const auto* data = run.data.name == "synthetic" ? nullptr : data_of(run);
    const bool is_refused = data != nullptr && refused_data_.contains({data->name, data->folder, data->image_size});
    if (is_refused) return;
    if (data != nullptr && data->facts) check_samples(run, *data);
    const auto shape = data != nullptr && data->facts ? std::optional(data->facts->shape) : input_shape_of(run.data);
    if (!shape) return;
    const ModelQuestion model{run.model.name, run.model.layers, image_text(*shape), shape->classes};
    if (!fits(run, model, data)) return;
    check_start(run, model);
    check_algorithms(run, model);
  }

  std::vector<CheckedData> take_data() { return {data_.begin(), data_.end()}; }
  void throw_if_any()
  {
    if (!found_.empty()) throw recipes::RecipeError(std::move(found_));
  }

 private:
  using Place = std::tuple<std::string, fs::path, std::int64_t>; // name and folder of a data set, data.image_size

  // Adds each finding once, because runs of a sweep share most of them.
  void add(recipes::Diagnostic finding)
  {
    const auto text = to_text(finding);
    if (texts_.insert(text).second) found_.push_back(std::move(finding));
  }

  void refuse(const RunSpec& run, const Keys& keys, const std::string& what, std::optional<std::size_t> element = {})
  {
    add(plan_.finding(run, keys, what, element));
  }

  // Calls `question`. If it throws a recipe error, adds a finding and returns false.
  template<class Question> bool is_granted(const RunSpec& run, const Keys& keys, Question question)
  {
    try {
      question();
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::recipe) throw;
      refuse(run, keys, error.what(), layer_of(error.what()));
      return false;
    }
  }

  void check_scheduler_args(const RunSpec& run)
  {
    const auto& resources = run.resources;
    if (!scheduler_args_.insert({resources.scheduler, resources.scheduler_args}).second) return;
    is_granted(run, {"resources.scheduler_args"},
               [&] { jobs::scheduler_kind(resources.scheduler).check_args(resources.scheduler_args); });
  }

  void take(const RunSpec& run, const std::vector<ProgramFinding>& findings)
  {
    for (const auto& finding : findings) refuse(run, finding.keys, finding.message, finding.element);
  }

  // Checks the files of the data set, not whether the network fits the images: only the user's own program knows its network.
  void check_program(const RunSpec& run)
  {
    const auto folder = fs::absolute(plan_.path).parent_path();
    if (programs_.insert({run.program.files, run.program.command}).second) take(run, find_program_findings(run, folder));
    if (run.data.name.empty() || run.data.name == "synthetic") return;
    const auto* data = data_of(run);
    if (data->facts) check_samples(run, *data);
  }

  // A simulated run reads no data, but its network must fit the images, its compute profile the network, and this machine must
  // have the memory if the simulation runs here.
  void check_simulated(const RunSpec& run)
  {
    const auto& profile = run.train.compute_profile;
    if (!profile.empty() && profiles_.insert({profile, run.model.name}).second)
      is_granted(run, {"train.compute_profile"}, [&] { require_profile_of(run); });
    const auto need = simulation_cost(run).memory_bytes, available = available_bytes_;
    if (scheduler_row(run.resources.scheduler).uses_this_machine && available > 0 && need > available)
      refuse(
          run, {"study.nodes", "study.ranks", "resources.nodes"},
          fmt::format("the simulation of {} ranks needs about {} of memory, and {} are available here; simulate fewer ranks, or "
                      "use a machine with more memory (resources.scheduler: slurm)",
                      run.ranks(), format_bytes(need), format_bytes(available)));
    if (const auto shape = input_shape_of(run.data))
      fits(run, {run.model.name, run.model.layers, image_text(*shape), shape->classes}, nullptr);
  }

  static void require_profile_of(const RunSpec& run)
  {
    const auto profile = read_compute_profile(run.train.compute_profile);
    if (run.model.name.empty()) {
      if (profile.is_of_program()) return;
      throw Error(ErrorKind::recipe, fmt::format("the compute profile {} is one of the network {}; set model.name: {}",
                                                 run.train.compute_profile, profile.model, profile.model));
    }
    if (profile.is_of_program())
      throw Error(ErrorKind::recipe,
                  fmt::format("the compute profile {} is one of the program {}, whose network has no name; remove "
                              "model.name",
                              run.train.compute_profile, printable(profile.model)));
    if (profile.model != run.model.name)
      throw Error(ErrorKind::recipe, fmt::format("the compute profile {} is one of {}, but the run trains {}; measure it with: "
                                                 "dtbench compute --model {} --batch {} --profile --json",
                                                 run.train.compute_profile, profile.model, run.model.name, run.model.name,
                                                 run.effective_batch_per_rank()));
  }

  const CheckedData* data_of(const RunSpec& run)
  {
    const Place place{run.data.name, fs::absolute(home_.data_place(run.data)), run.data.image_size};
    const auto same = [&](const CheckedData& known) { return Place{known.name, known.folder, known.image_size} == place; };
    if (const auto known = std::find_if(data_.begin(), data_.end(), same); known != data_.end()) return &*known;
    CheckedData data{run.data.name, std::get<fs::path>(place), run.data.image_size, std::nullopt, {}};
    const auto ask = [&] { data.facts = ask_engine_of_data(run.data, data.folder); };
    if (!holds_files(data.folder))
      data.remedy = how_to_get(run.data, data.folder);
    else if (!is_granted(run, {"data.set", "data.path", "data.name"}, ask))
      refused_data_.insert(place);
    return &data_.emplace_back(std::move(data));
  }

  void check_samples(const RunSpec& run, const CheckedData& data)
  {
    const auto refuse_more = [&](std::string_view key, std::int64_t wanted, std::int64_t found, const char* purpose) {
      if (wanted > found)
        refuse(run, {key},
               fmt::format("`{}` asks for {} samples, but data set {} in {} has {} for {}; ask for at most {}, or 0 for all", key,
                           wanted, data.name, data.folder.string(), found, purpose, found));
    };
    const auto& facts = *data.facts;
    refuse_more("data.train_samples", run.data.train_samples, facts.train_samples, "training");
    refuse_more("data.test_samples", run.data.test_samples, facts.test_samples, "evaluation");
    for (auto& finding : plan_.find_length_problems(run, facts.train_samples)) add(std::move(finding));
  }

  bool fits(const RunSpec& run, const ModelQuestion& model, const CheckedData* data)
  {
    const auto [known, is_new] = fits_.try_emplace(model, true);
    if (!is_new) return known->second;
    const auto ask = [&] {
      try {
        ask_engine(model);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::recipe || data == nullptr || !data->facts) throw;
        throw Error(ErrorKind::recipe,
                    fmt::format("{} Data set {} in {} has images of {} and {}.", error.what(), data->name, data->folder.string(),
                                *model.image, counted(*model.classes, "class", "classes")));
      }
    };
    return known->second = is_granted(run, model.layers.empty() ? Keys{"model.name"} : Keys{"model.layers"}, ask);
  }

  void check_start(const RunSpec& run, const ModelQuestion& model)
  {
    const auto& named = run.train.start_from;
    if (named.empty() || !starts_.insert({named, model}).second) return;
    is_granted(run, {"train.start_from"}, [&] {
      const auto file = start_file(home_, named);
      start_id(file); // throws if the file cannot be used as start
      ask_engine_to_start(model, file);
    });
  }

  // Whether the list of a run with fixed algorithms is one of this network.
  void check_algorithms(const RunSpec& run, const ModelQuestion& model)
  {
    const auto& train = run.train;
    if (train.algorithms != AlgorithmChoice::fixed) return;
    if (!lists_.insert({train.algorithms_from, train.algorithm_list, train.winograd, train.precision, model}).second) return;
    is_granted(run, {"train.algorithms_from", "train.algorithm_list"},
               [&] { require_list_of(model, fixed_algorithms(home_, train)); });
  }

  static void require_list_of(const ModelQuestion& model, const Algorithms& list)
  {
    const auto network = convolutions_of(ask_engine(model));
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::recipe, fmt::format("the list of algorithms does not fit model {}: {}; take it from a run that "
                                                 "trains the same network",
                                                 model.model, why));
    };
    for (const auto& name : network)
      if (!list.contains(name)) refuse(fmt::format("it has none for convolution {}", name));
    for (const auto& [name, layer] : list)
      if (!network.contains(name)) refuse(fmt::format("it names {}, which is no convolution of the model", printable(name)));
  }

  const Home& home_;
  const recipes::Plan& plan_;
  const double available_bytes_ = static_cast<double>(machine_memory().available); // 0: unknown
  std::deque<CheckedData> data_;
  std::set<Place> refused_data_;
  std::map<ModelQuestion, bool> fits_;
  std::set<std::pair<std::string, ModelQuestion>> starts_;
  std::set<std::tuple<std::string, std::vector<std::string>, bool, Precision, ModelQuestion>>
      lists_;                                                                        // checked lists of algorithms
  std::set<std::pair<std::string, std::vector<std::string>>> scheduler_args_;        // checked, with their schedulers
  std::set<std::pair<std::vector<std::string>, std::vector<std::string>>> programs_; // checked: files, command
  std::set<std::pair<std::string, std::string>> profiles_;                           // checked, with their models
  std::set<std::string> texts_;
  std::vector<recipes::Diagnostic> found_;
};

} // namespace

std::vector<CheckedData> check_inputs(Context& context, const Home& home, const recipes::Plan& plan)
{
  const auto needs_engine = [](const RunSpec& run) { return !run.is_own_program(); };
  if (std::ranges::any_of(plan.runs, needs_engine)) engine_program(); // throws if dtengine is missing
  InputChecks checks(home, plan);
  try {
    for (const auto& run : plan.runs) checks.check(run);
  } catch (const EngineCannotRun& error) {
    context.messages.warn("data sets and models were not checked, because dtengine cannot run here: {}", error.what());
  }
  checks.throw_if_any();
  return checks.take_data();
}

} // namespace dt::cli
