// dtctl new: writes a commented recipe, from options or from the answers to a few questions.
#include "cli/checks/engine_model.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/recipe_text/exchange_in_source.hpp"
#include "cli/recipe_text/packed_choice.hpp"
#include "cli/recipe_text/program_text.hpp"
#include "cli/recipe_text/questions.hpp"
#include "cli/recipe_text/recipe_text.hpp"
#include "cli/recipe_text/yaml_scalar.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/lookup.hpp"
#include "core/program/program_files.hpp"
#include "core/text.hpp"
#include "jobs/machine/cores.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct NewOptions {
  std::string file, name, model, data, strategies, study, ranks, nodes, parts, profile, partition, program;
  std::int64_t ranks_per_node = 0, repeats = 0, global_batch = 0, batch_per_rank = 0; // 0: not given
  std::vector<std::string> arguments;                                                 // of the program
  bool force = false, defaults = false;

  bool to_stdout() const { return file.empty() || file == "-"; }
};

// The names of machines that an answer may give besides the profiles.
constexpr const char* this_machine = "local";
constexpr const char* slurm = "slurm";

using Profiles = std::vector<recipes::Profile>;

std::vector<std::string> names_of(const Profiles& profiles)
{
  std::vector<std::string> names;
  for (const auto& profile : profiles) names.push_back(profile.name);
  return names;
}

// The value that the profile gives a key; empty if it gives none.
std::string value_in(const recipes::Profile& profile, std::string_view path)
{
  for (const auto& [key, value] : profile.values)
    if (key == path) return value;
  return "";
}

// Why the engine refuses this network for this data set. Empty if it accepts it, or if the engine cannot run here; then the job
// reports the mistake.
std::string objection_to_images(const std::string& model, const InputShape& shape)
{
  if (model == "custom") return "";
  try {
    ask_engine({.model = model, .image = image_text(shape), .classes = shape.classes});
    return "";
  } catch (const Error& error) {
    return error.kind() == ErrorKind::recipe ? error.what() : "";
  }
}

std::string objection(const std::string& model, const std::string& data)
{
  if (is_known_to_fit(model, data)) return "";
  DataSpec spec;
  spec.name = data;
  const auto shape = input_shape_of(spec);
  return shape ? objection_to_images(model, *shape) : "";
}

std::vector<std::string> models_for(const std::string& data)
{
  auto models = strings_of(model_names());
  std::erase_if(models, [&](const std::string& model) { return !objection(model, data).empty(); });
  return models;
}

// The data sets whose images have a known shape: all but packed ones, of which only the file tells it.
std::vector<std::string> known_sets()
{
  auto sets = strings_of(data_names());
  std::erase(sets, "packed");
  return sets;
}

std::vector<std::string> data_for(const std::string& model)
{
  auto sets = known_sets();
  std::erase_if(sets, [&](const std::string& data) { return !objection(model, data).empty(); });
  return sets;
}

// One member per thing that an option or an answer decides. Each takes a text, and throws a usage error if it cannot be used.
class ChoiceReader {
 public:
  ChoiceReader(Context& context, RecipeChoices& choices)
      : profiles_(recipes::list_profiles(load_options(context, {}))), packed_(packed_choices(context.home())), choices_(choices)
  {
  }

  void ranks_per_node(std::int64_t ranks)
  {
    ranks_given_ = ranks > 0;
    choices_.ranks_per_node = std::max<std::int64_t>(1, ranks);
  }

  // path: of the program, from here. recipe: absolute path of the recipe.
  void program(const std::string& path, const std::vector<std::string>& arguments, const fs::path& recipe)
  {
    if (!is_plain_line(path)) throw Error(ErrorKind::usage, printable(path) + " has control characters in its name");
    if (!fs::is_regular_file(path)) throw Error(ErrorKind::usage, "there is no file " + printable(path));
    const auto below = fs::absolute(path).lexically_normal().lexically_relative(recipe.lexically_normal().parent_path());
    if (below.empty() || below.begin()->string() == "..")
      throw Error(
          ErrorKind::usage,
          fmt::format("{} is not in the folder of the recipe or below it. Write the recipe beside the program: dtctl new {}",
                      path, shell_quote((fs::path(path).parent_path() / "study.yaml").string())));
    choices_.program = below.string();
    choices_.command = command_for(choices_.program, ::access(path.c_str(), X_OK) == 0);
    if (choices_.command.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("{0} is not executable, and its extension names no interpreter (.py, .sh, .jl, .R). "
                              "Compile it, make it executable with chmod +x {0}, or give a script that starts it",
                              shell_quote(path)));
    choices_.command.insert(choices_.command.end(), arguments.begin(), arguments.end());
    choices_.exchanges = !is_python(choices_.program) || names_exchange(fs::path(path));
  }

  // An answer: the words that start the program.
  void command(const std::string& text)
  {
    const auto words = shell_words(text);
    if (!words) throw Error(ErrorKind::usage, "a quote in the command has no end");
    if (std::ranges::find(*words, choices_.program) == words->end() || !is_plain_line(text))
      throw Error(ErrorKind::usage, "the command must name " + shell_quote(choices_.program));
    choices_.command = *words;
  }

  // The names of data sets that an answer may give.
  std::vector<std::string> sets() const
  {
    auto names = known_sets();
    for (const auto& set : packed_) names.push_back(set.name);
    return names;
  }

  // A model that suits the data set, if that is known already.
  std::string usual_model() const
  {
    const auto* set = packed_set(choices_.set);
    return set != nullptr ? default_model(*set) : default_model(choices_.data);
  }

  void model(const std::string& text)
  {
    const auto model = known("model", text, model_names());
    require_fit(model, choices_.data);
    if (const auto* set = packed_set(choices_.set)) choices_.image_size = image_size_for(model, *set, objection_to_images);
    choices_.model = model;
  }

  void data(const std::string& text)
  {
    if (const auto* set = packed_set(text)) return packed(*set);
    if (text == "packed")
      throw Error(ErrorKind::usage, "`packed` is a kind of data set; give the name of one: " + packed_names());
    if (!contains(data_names(), text)) throw Error(ErrorKind::usage, unknown_name("data set", text, sets()));
    require_fit(choices_.model, text);
    choices_.data = text;
  }

  void strategies(const std::string& text) { choices_.strategies = parse_strategies(text); }
  void study(const std::string& text) { choices_.study = parse_study(text); }

  void sizes(SizeUnit unit, const std::string& text)
  {
    auto chosen = choices_;
    chosen.unit = unit;
    chosen.sizes = parse_sizes(text);
    check_choices(chosen);
    choices_ = std::move(chosen);
  }

  void profile(const std::string& text)
  {
    const auto found = std::ranges::find(profiles_, text, &recipes::Profile::name);
    if (found == profiles_.end())
      throw Error(ErrorKind::usage, profiles_.empty() ? "there is no profile `" + printable(text) +
                                                            "`; dtctl config paths says where profiles are defined"
                                                      : unknown_name("profile", text, names_of(profiles_)));
    choices_.profile = text;
    choices_.unit = SizeUnit::nodes;
    choices_.profile_sets_time = !value_in(*found, "resources.time_limit").empty();
    const auto ranks = value_in(*found, "resources.ranks_per_node");
    choices_.profile_sets_ranks = !ranks.empty() && !ranks_given_;
    if (choices_.profile_sets_ranks) choices_.ranks_per_node = parse_sizes(ranks).front();
  }

  void partition(const std::string& text)
  {
    if (text.empty() || !is_plain_line(text))
      throw Error(ErrorKind::usage, fmt::format("\"{}\" is not the name of a partition", printable(text)));
    choices_.partition = text;
    on_slurm();
  }

  void name(const std::string& text)
  {
    if (trim(text).empty() || !is_plain_line(text))
      throw Error(
          ErrorKind::usage,
          fmt::format("\"{}\" cannot be the name of a recipe: it must be one line without control characters; give --name",
                      printable(text)));
    choices_.name = text;
  }

  std::vector<std::string> machines() const
  {
    std::vector<std::string> names{this_machine};
    for (const auto& profile : profiles_) names.push_back(profile.name);
    if (std::find(names.begin(), names.end(), slurm) == names.end()) names.emplace_back(slurm);
    return names;
  }

  // An answer: this machine, a profile, or Slurm without a profile.
  void machine(const std::string& text)
  {
    const auto names = machines();
    if (std::find(names.begin(), names.end(), text) == names.end())
      throw Error(ErrorKind::usage, unknown_name("machine", text, names));
    if (std::ranges::find(profiles_, text, &recipes::Profile::name) != profiles_.end()) return profile(text);
    if (text == slurm) on_slurm();
  }

 private:
  static std::string known(const std::string& what, const std::string& text, std::span<const Name> names)
  {
    if (!contains(names, text)) throw Error(ErrorKind::usage, unknown_name(what, text, strings_of(names)));
    return text;
  }

  const PackedChoice* packed_set(const std::string& name) const
  {
    const auto found = std::ranges::find(packed_, name, &PackedChoice::name);
    return found == packed_.end() ? nullptr : &*found;
  }

  std::string packed_names() const
  {
    std::vector<std::string> names;
    for (const auto& set : packed_) names.push_back(set.name);
    return names.empty() ? "the home has none yet; make one with dtctl data pack" : join(names, ", ");
  }

  void packed(const PackedChoice& set)
  {
    if (!choices_.model.empty()) choices_.image_size = image_size_for(choices_.model, set, objection_to_images);
    choices_.data = "packed";
    choices_.set = set.name;
    choices_.samples = set.train_samples;
  }

  // Either may still be empty.
  static void require_fit(const std::string& model, const std::string& data)
  {
    if (model.empty() || data.empty()) return;
    if (const auto reason = objection(model, data); !reason.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("{} cannot train on {}: {} Models that fit {}: {}. Data sets that fit {}: {}.", model, data, reason,
                              data, join(models_for(data), ", "), model, join(data_for(model), ", ")));
  }

  void on_slurm()
  {
    choices_.on_slurm = true;
    choices_.unit = SizeUnit::nodes;
  }

  Profiles profiles_;
  std::vector<PackedChoice> packed_;
  RecipeChoices& choices_;
  bool ranks_given_ = false;
};

// Puts the option's name before the message of a value that it refuses.
template<class Take> void take_option(const std::string& option, const std::string& value, Take take)
{
  if (value.empty()) return;
  try {
    take(value);
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(error.kind(), message.starts_with("--") ? message : option + ": " + message); // it names another option
  }
}

// Fills the choices from the options, and all that is missing from answers or defaults.
class RecipeQuestions {
 public:
  RecipeQuestions(Context& context, const NewOptions& options) : context_(context), options_(options), reader_(context, choices_)
  {
  }

  RecipeChoices complete()
  {
    take_options();
    const bool asks = !options_.defaults && !context_.json && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
    if (choices_.is_program())
      fill_program(asks);
    else
      fill_training(asks);
    fill("machine", options_.profile + options_.partition, asks,
         {"machine", reader_.machines(), this_machine, [&](auto& answer) { reader_.machine(answer); }});
    fill_sizes(asks);
    warn_of_copies();
    const bool is_here = choices_.unit != SizeUnit::nodes && choices_.profile.empty() && !choices_.on_slurm;
    choices_.without_mpi = is_here && choices_.is_program() && find_installed("mpirun").empty();
    if (!choices_.is_program()) choose_batch(choices_);
    check_choices(choices_);
    remember_unasked();
    return choices_;
  }

  // "model lenet", "data set digits", …: what was neither given nor answered.
  const std::vector<std::string>& defaults() const { return defaults_; }

 private:
  void fill_program(bool asks)
  {
    const auto command = shell_join(choices_.command);
    fill("command", "", asks, {"command", {}, command, [&](auto& answer) { reader_.command(answer); }});
  }

  void fill_training(bool asks)
  {
    fill("model", options_.model, asks,
         {"model", strings_of(model_names()), reader_.usual_model(), [&](auto& a) { reader_.model(a); }});
    fill("data set", options_.data, asks,
         {"data set", reader_.sets(), default_data(choices_.model), [&](auto& a) { reader_.data(a); }});
    fill("strategy", options_.strategies, asks,
         {"strategies, with commas between them", strings_of(strategy_names()), "sync-sgd",
          [&](auto& a) { reader_.strategies(a); }});
  }

  void take_options()
  {
    choices_.file = options_.to_stdout() ? "" : options_.file;
    reader_.ranks_per_node(options_.ranks_per_node);
    choices_.global_batch = options_.global_batch;
    choices_.batch_per_rank = options_.batch_per_rank;
    take_program();
    take_option("--model", options_.model, [&](const auto& text) { reader_.model(text); });
    take_option("--data", options_.data, [&](const auto& text) { reader_.data(text); });
    take_option("--strategy", options_.strategies, [&](const auto& text) { reader_.strategies(text); });
    take_option("--profile", options_.profile, [&](const auto& text) { reader_.profile(text); });
    take_option("--cluster", options_.partition, [&](const auto& text) { reader_.partition(text); });
    take_option("--study", options_.study, [&](const auto& text) { reader_.study(text); });
    if (options_.study.empty()) choices_.study = options_.parts.empty() ? usual_mode() : StudyMode::partition;
    choices_.repeats = options_.repeats > 0 ? options_.repeats : choices_.study ? 3 : 1;
    take_name();
    check_batch(choices_); // options that contradict each other; no answer to a question could mend that
    parse_given_sizes();
  }

  // A program chooses its batch itself, unless its recipe does.
  StudyMode usual_mode() const
  {
    if (!choices_.is_program() || options_.global_batch > 0) return StudyMode::strong;
    return options_.batch_per_rank > 0 ? StudyMode::weak : StudyMode::scaling;
  }

  // Remembers the defaults of the options that no question asks for.
  void remember_unasked()
  {
    if (options_.study.empty() && options_.parts.empty()) defaults_.push_back(fmt::format("study {}", name_of(*choices_.study)));
    if (options_.repeats == 0) defaults_.push_back(fmt::format("repeats {}", choices_.repeats));
    if (options_.global_batch > 0 || options_.batch_per_rank > 0 || choices_.is_program()) return;
    defaults_.push_back(choices_.global_batch > 0 ? fmt::format("global batch {}", choices_.global_batch)
                                                  : fmt::format("batch per rank {}", choices_.batch_per_rank));
  }

  // Wrong sizes are reported before the first question; what depends on other answers is checked later.
  void parse_given_sizes() const
  {
    take_option("--ranks", options_.ranks, parse_sizes);
    take_option("--nodes", options_.nodes, parse_sizes);
    take_option("--parts", options_.parts, parse_sizes);
  }

  void take_program()
  {
    if (options_.program.empty()) {
      if (!options_.arguments.empty())
        throw Error(ErrorKind::usage, "words behind -- are arguments of the program that --program names, and there is none");
      return;
    }
    for (const auto& word : options_.arguments)
      if (!is_plain_line(word)) throw Error(ErrorKind::usage, "the argument \"" + printable(word) + "\" has control characters");
    for (const auto& [option, value] :
         {std::pair("--model", options_.model), std::pair("--data", options_.data), std::pair("--strategy", options_.strategies)})
      if (!value.empty())
        throw Error(ErrorKind::usage,
                    fmt::format("{} is for dtengine, and --program runs another program; leave out one of them", option));
    take_option("--program", options_.program, [&](const auto& text) {
      reader_.program(text, options_.arguments, fs::absolute(choices_.file.empty() ? "new.yaml" : choices_.file));
    });
  }

  void take_name()
  {
    if (!options_.name.empty()) return take_option("--name", options_.name, [&](const auto& text) { reader_.name(text); });
    if (!choices_.file.empty() || choices_.is_program())
      reader_.name(fs::path(choices_.file.empty() ? choices_.program : choices_.file).stem().string());
  }

  // Does nothing if the option was given. Asks, or takes the default and remembers it.
  void fill(const std::string& what, const std::string& given, bool asks, const Question& question)
  {
    if (!given.empty()) return;
    if (asks) return ask(question, std::cin, std::cerr, context_.err_terminal.columns);
    question.take(question.default_answer);
    defaults_.push_back(what + " " + question.default_answer);
  }

  void fill_sizes(bool asks)
  {
    if (!options_.ranks.empty()) choices_.unit = SizeUnit::ranks;
    if (!options_.nodes.empty()) choices_.unit = SizeUnit::nodes;
    if (choices_.study == StudyMode::partition) choices_.unit = SizeUnit::parts;
    const auto unit = choices_.unit;
    if (unit != SizeUnit::nodes && choices_.profile_sets_ranks) { // the sizes are ranks on one node
      choices_.profile_sets_ranks = false;
      choices_.ranks_per_node = 1;
    }
    const auto take = [this, unit](const std::string& text) { reader_.sizes(unit, text); };
    const std::string word = unit == SizeUnit::nodes ? "nodes" : unit == SizeUnit::parts ? "parts" : "ranks";
    const auto given = options_.ranks + options_.nodes + options_.parts;
    if (!given.empty()) {
      const auto used = !options_.parts.empty() ? SizeUnit::parts : !options_.nodes.empty() ? SizeUnit::nodes : SizeUnit::ranks;
      const auto name = used == SizeUnit::nodes ? "--nodes" : used == SizeUnit::parts ? "--parts" : "--ranks";
      return take_option(name, given, [&](const std::string& text) { reader_.sizes(used, text); });
    }
    if (choices_.ranks_per_node > 1 && unit != SizeUnit::nodes)
      throw Error(ErrorKind::usage,
                  "--ranks-per-node needs --nodes, --profile or --cluster; --ranks are ranks in all, on one node");
    const auto cores = static_cast<std::int64_t>(jobs::usable_cores().size());
    const auto sizes = default_sizes(choices_, cores);
    const auto topic = choices_.study ? "sizes, in " + word : "number of " + word;
    fill(word, "", asks, {topic, {}, fmt::format("{}", fmt::join(sizes, ",")), take});
    const bool is_here = unit != SizeUnit::nodes && choices_.profile.empty();
    choices_.oversubscribe = is_here && choices_.sizes == sizes && sizes.back() > cores;
    if (choices_.oversubscribe)
      context_.messages.warn("{} ranks share the {} cores of this machine, because fewer ranks would leave one worker; the "
                             "throughput of that size says little",
                             sizes.back(), cores);
  }

  void warn_of_copies() const
  {
    if (choices_.exchanges) return;
    const auto size = choices_.sizes.empty() ? 1 : std::ranges::max(choices_.sizes);
    const auto ranks = choices_.unit == SizeUnit::parts ? size : ranks_at(choices_, size);
    const auto what = fmt::format("{} exchanges nothing between ranks: neither it nor a module beside it uses torch.distributed, "
                                  "dtctl_sync or another such library",
                                  choices_.program);
    const auto remedy = "add the two lines of dtctl_sync (docs/guide/pytorch.md) or DistributedDataParallel to it";
    if (ranks > 1)
      context_.messages.warn(
          "{}. So {} ranks are {} copies of one training, and dtctl results will tell no speed-up. For a scaling "
          "study {}; or give --ranks 1",
          what, ranks, ranks, remedy);
    else
      context_.messages.info("{}, so the recipe asks for 1 rank. For a scaling study {}, and give --ranks 1,2", what, remedy);
  }

  Context& context_;
  const NewOptions& options_;
  RecipeChoices choices_;
  ChoiceReader reader_;
  std::vector<std::string> defaults_;
};

// Before any question: a file that is there is an error unless --force is given.
void check_file(const NewOptions& options)
{
  if (options.to_stdout()) return;
  if (!is_plain_line(options.file))
    throw Error(ErrorKind::usage,
                "\"" + printable(options.file) + "\" cannot be the path of a recipe: it has control characters");
  if (const auto folder = fs::path(options.file).parent_path(); !folder.empty() && !fs::is_directory(folder))
    throw Error(ErrorKind::usage,
                "there is no folder " + printable(folder.string()) + "; make it first: mkdir -p " + shell_quote(folder.string()));
  if (!options.force && is_there(options.file))
    throw Error(ErrorKind::usage, options.file + " exists, and nothing was written; give another name, or --force to replace it");
}

void write(const NewOptions& options, const std::string& text)
{
  if (options.force) return write_file_atomic(options.file, text, Readers::everybody);
  if (!create_file_exclusive(options.file, text, Readers::everybody))
    throw Error(ErrorKind::usage, options.file + " was made by somebody else in the meantime, and was left as it is");
}

void tell_defaults(Context& context, const std::vector<std::string>& defaults)
{
  if (!defaults.empty()) context.messages.info("not given, so defaults were taken: {}", join(defaults, ", "));
  context.out.data("defaults", defaults);
}

// Copies the reporting module beside the program. The recipe is written by now and needs no copy, so failing is a warning.
void copy_module(Context& context, const fs::path& program)
{
  try {
    const auto folder = program.has_parent_path() ? program.parent_path() : fs::path(".");
    context.out.field("module", "module", text_cell(copy_report_module(folder).lexically_normal().string()));
  } catch (const Error& error) {
    context.messages.warn("the reporting module was not copied; jobs have dtctl's own: {}", error.what());
  }
}

void tell_how_to_report(Context& context, const RecipeChoices& choices, const fs::path& program)
{
  if (is_python(choices.program) && imports_torch(text_if_readable(program))) {
    context.messages.info("{} uses PyTorch, so dtctl observes its steps and phases; nothing has to be added to it for that",
                          choices.program);
    context.out.data("observed", true);
    return;
  }
  if (is_python(choices.program) && !choices.file.empty()) copy_module(context, program);
  const auto lines = report_lines(choices);
  if (lines.empty())
    context.messages.info("dtctl reads the figures of {} from what rank 0 prints: write program.metrics in the recipe",
                          choices.program);
  else if (choices.file.empty())
    context.messages.info("Paste these lines into {}:\n\n{}", choices.program, lines);
  else
    context.out.heading("Paste these lines into " + choices.program + ":");
  if (!choices.file.empty()) context.out.block("report_lines", lines);
}

ExitCode make_recipe(Context& context, const NewOptions& options)
{
  check_file(options);
  RecipeQuestions questions(context, options);
  auto choices = questions.complete();
  if (choices.name.empty()) choices.name = choices.model + "-" + (choices.study ? std::string(name_of(*choices.study)) : "run");
  choices.schema = recipe_schema_file().string();
  const auto text = recipe_text(choices);
  tell_defaults(context, questions.defaults());
  if (options.to_stdout()) {
    context.out.block("recipe", text);
    if (choices.is_program()) tell_how_to_report(context, choices, options.program);
    return ExitCode::ok;
  }
  write(options, text);
  context.out.field("file", "recipe", text_cell(options.file, Style::strong));
  context.out.data("recipe", text);
  if (choices.is_program()) tell_how_to_report(context, choices, options.program);
  const auto file = shell_quote(options.file);
  context.messages.info("Check it with: dtctl validate {}. Run it with: dtctl {} {} --wait", file, verb_for(choices), file);
  return ExitCode::ok;
}

void add_choice_options(Verb& verb, NewOptions& options)
{
  verb.add_option("--name", options.name, "name of the recipe; default: the name of the file")->type_name("TEXT");
  verb.add_option("--program", options.program, "a training program of your own, such as train.py, in place of dtengine")
      ->type_name("FILE");
  verb.add_option("--model", options.model, "network to train (dtctl recipe models)")->type_name("MODEL");
  verb.add_option("--data", options.data, "data set (dtctl recipe models), or a packed set in the home (dtctl data list)")
      ->type_name("DATA");
  verb.add_option("--strategy", options.strategies, "strategies to compare (dtctl recipe strategies), with commas between them")
      ->type_name("STRATEGIES");
  verb.add_option("--study", options.study, "kind of study (strong; of a program scaling); none: no scaling study")
      ->type_name(join(study_words(), "|"));
  verb.add_option("--repeats", options.repeats, "runs per size (3; without a study 1)")->type_name("N")->check(positive_number());
  auto* global = verb.add_option("--global-batch", options.global_batch, "samples of all ranks per step");
  global->type_name("N")->check(positive_number());
  verb.add_option("--batch-per-rank", options.batch_per_rank, "samples of each rank per step")
      ->type_name("N")
      ->check(positive_number())
      ->excludes(global);
}

void add_size_options(Verb& verb, NewOptions& options)
{
  auto* ranks = verb.add_option("--ranks", options.ranks, "sizes as numbers of ranks on one node")->type_name("1,2,...");
  auto* nodes = verb.add_option("--nodes", options.nodes, "sizes as numbers of nodes")->type_name("1,2,...")->excludes(ranks);
  verb.add_option("--parts", options.parts, "sizes of a partition study: ranks into which the cores of a node are divided")
      ->type_name("1,2,...")
      ->excludes(ranks)
      ->excludes(nodes);
  verb.add_option("--ranks-per-node", options.ranks_per_node, "with nodes: ranks on each of them (1)")
      ->type_name("N")
      ->check(positive_number())
      ->excludes(ranks);
  auto* profile = verb.add_option("--profile", options.profile, "machine profile that supplies the resources")->type_name("NAME");
  verb.add_option("--cluster", options.partition, "run on Slurm, in this partition")->type_name("PARTITION")->excludes(profile);
}

} // namespace

void add_new(Commands& commands)
{
  auto options = std::make_shared<NewOptions>();
  auto& verb =
      commands.add({"new", write_verbs, "Write a commented recipe, from options or from the answers to a few questions.",
                    "A terminal asks for what no option gives; an empty answer takes the default in brackets. With --program,\n"
                    "dtctl also copies dtctl_report.py beside a Python program, and words behind -- are its arguments.\n"
                    "\n"
                    "Examples:\n"
                    "  dtctl new my-study.yaml --model lenet --data digits --ranks 1,2 --repeats 3\n"
                    "  dtctl new study.yaml --program train.py --ranks 1,2 -- --lr 0.1 --epochs 3"},
                   [options](Context& context) { return make_recipe(context, *options); });
  verb.add_option("FILE", options->file, "file to write; - or none: standard output")->type_name("FILE");
  commands.pass_rest(verb, options->arguments);
  add_choice_options(verb, *options);
  add_size_options(verb, *options);
  verb.add_flag("-y,--defaults", options->defaults, "ask nothing: take the default for everything that is not given");
  verb.add_flag("--force", options->force, "replace FILE if it exists");
}

} // namespace dt::cli
