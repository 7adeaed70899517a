#include "cli/recipe_text/recipe_text.hpp"

#include "cli/recipe_text/commented_text.hpp"
#include "cli/recipe_text/program_text.hpp"
#include "cli/recipe_text/yaml_scalar.hpp"
#include "core/spec/input_shape.hpp"
#include "core/spec/optimizer_table.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::cli {
namespace {

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& words)
{
  if (words.size() == 1) return words.front();
  return join(std::span(words).first(words.size() - 1), ", ") + " and " + words.back();
}

std::string size_list(const RecipeChoices& choices) { return fmt::format("[{}]", fmt::join(choices.sizes, ", ")); }

std::string kind_words(const RecipeChoices& choices)
{
  if (!choices.study) return choices.strategies.size() > 1 ? "A comparison of strategies" : "One training";
  switch (*choices.study) {
  case StudyMode::strong:
    return "A strong-scaling study";
  case StudyMode::weak:
    return "A weak-scaling study";
  case StudyMode::partition:
    return "A partition study";
  case StudyMode::scaling:
    return "A scaling study";
  }
  return "";
}

std::string subject(const RecipeChoices& choices)
{
  if (choices.is_program())
    return fmt::format("{} of {}, a program of your own", choices.study ? kind_words(choices) : "One run", choices.program);
  return fmt::format("{} of {} on {} with {}", kind_words(choices), choices.model,
                     choices.set.empty() ? choices.data : choices.set, listed(choices.strategies));
}

// Names the schema for the YAML language server of editors: a path, or where a blank would end it a URL.
void write_schema(Text& text, const std::string& path)
{
  if (path.empty()) return;
  if (path.find(' ') == std::string::npos) return text.line("# yaml-language-server: $schema=" + path);
  text.line("# yaml-language-server: $schema=file://" + join(split(path, ' '), "%20"));
}

void write_head(Text& text, const RecipeChoices& choices)
{
  write_schema(text, choices.schema);
  const auto file = shell_quote(choices.file.empty() ? "RECIPE.yaml" : choices.file);
  text.comment(subject(choices) + ".");
  text.comment("Written by dtctl new, to be changed: each block says what it sets, and what to change next.");
  text.line("#");
  if (choices.data == "digits" || choices.data == "shapes") text.line(fmt::format("#   dtctl data make {}", choices.data));
  text.line(fmt::format("#   dtctl validate {}", file));
  text.line(fmt::format("#   dtctl sweep {} --dry-run", file));
  text.line(fmt::format("#   dtctl {} {} --wait", verb_for(choices), file));
  text.line("#   dtctl results");
  text.line("#");
  text.comment("A key that is not here has its default; dtctl recipe docs prints all keys.");
  text.line("version: 1");
  text.line("name: " + yaml_scalar(choices.name));
  text.line("description: " + yaml_scalar(subject(choices)));
  if (choices.profile.empty()) return;
  text.comment("The machine profile that supplies the resources; dtctl config show prints the profiles.");
  text.line("profile: " + yaml_scalar(choices.profile));
}

// A small network that fits the images of every data set.
constexpr std::array example_layers{"- convolution: { channels: 8, kernel: 5, padding: 2 }", "- relu",
                                    "- max_pooling: { kernel: 4, stride: 4 }",
                                    "- inner_product: { outputs: classes }    # one output for each class of the data set"};

void write_model(Text& text, const RecipeChoices& choices)
{
  text.gap();
  if (choices.model != "custom") {
    text.comment("The network to train. dtctl recipe models lists all networks, dtctl recipe models " + choices.model +
                 " the layers of this one.");
    text.line(fmt::format("model: {{ name: {} }}", choices.model));
    return;
  }
  text.comment(
      "A network of your own: each layer takes the output of the one before. dtctl recipe models --layers lists all kinds of "
      "layers.");
  text.line("model:");
  text.line("layers:", 2);
  for (const auto* layer : example_layers) text.line(layer, 4);
}

std::string origin_of(const std::string& data)
{
  if (data == "digits" || data == "shapes") return "dtctl data make " + data + " renders it into the home of dtctl.";
  return "Its files must be in data/" + data + " in the home of dtctl (dtctl config paths), or in the folder that path names.";
}

void write_synthetic(Text& text, const RecipeChoices& choices)
{
  const auto* facts = find_model_facts(choices.model);
  const auto shape = facts ? facts->natural : InputShape{};
  text.comment("Random images of the shape for which the model was published, made in memory: for throughput, not for accuracy. "
               "With real images, name digits, shapes, mnist, cifar10 or cifar100 instead and remove the other keys.");
  text.line("data:");
  text.line("name: synthetic", 2);
  text.line(fmt::format("channels: {}", shape.channels), 2);
  text.line(fmt::format("height: {}", shape.height), 2);
  text.line(fmt::format("width: {}", shape.width), 2);
  text.line(fmt::format("classes: {}", shape.classes), 2);
  text.line(fmt::format("train_samples: {}", std::max<std::int64_t>(1024, 2 * largest_step(choices))), 2);
  text.line("test_samples: 64", 2);
}

void write_packed(Text& text, const RecipeChoices& choices)
{
  text.comment("A packed data set in the home of dtctl. dtctl data list lists these sets, dtctl data show " + choices.set +
               " draws its images.");
  text.line("data:");
  text.line("name: packed", 2);
  text.line("set: " + yaml_scalar(choices.set), 2);
  text.comment("Side in pixels of the square images that the network gets. Without it they are as the set has them.", 2);
  text.line(choices.image_size > 0 ? fmt::format("image_size: {}", choices.image_size) : "# image_size: 32", 2);
  text.comment("Training images that vary from epoch to epoch: pad moves them, random-resized takes parts of them.", 2);
  text.line("# crop: pad", 2);
  text.line("# flip: true", 2);
}

void write_data(Text& text, const RecipeChoices& choices)
{
  text.gap();
  if (choices.data == "packed") return write_packed(text, choices);
  if (choices.data == "synthetic") return write_synthetic(text, choices);
  text.comment("The data set. " + origin_of(choices.data));
  text.line(fmt::format("data: {{ name: {} }}", choices.data));
}

void write_batch(Text& text, const RecipeChoices& choices)
{
  if (choices.global_batch > 0) {
    text.comment("Samples of all ranks per step. It must be a multiple of the ranks that train, at every size.", 2);
    text.line(fmt::format("global_batch: {}", choices.global_batch), 2);
  } else {
    text.comment("Samples of each rank per step.", 2);
    text.line(fmt::format("batch_per_rank: {}", choices.batch_per_rank), 2);
  }
}

// An accuracy that the shipped recipes with these data reach, and the passes that they need; nothing for other data.
struct Goal {
  std::string_view data, accuracy;
  int epochs;
};
constexpr std::array goals{Goal{"digits", "0.97", 8}, Goal{"mnist", "0.98", 6}, Goal{"shapes", "0.85", 8}};

const Goal* goal_of(const RecipeChoices& choices)
{
  const auto found = std::ranges::find(goals, choices.data, &Goal::data);
  return found == goals.end() || choices.model == "custom" ? nullptr : &*found;
}

void write_length(Text& text, const RecipeChoices& choices)
{
  if (choices.data == "synthetic") {
    text.line("steps: 50", 2);
    text.comment("Random images cannot be learned, so only the end is evaluated.", 2);
    text.line("eval_every_epochs: 0", 2);
    return;
  }
  const auto* goal = goal_of(choices);
  text.comment("Passes over the training set.", 2);
  text.line(fmt::format("epochs: {}", goal != nullptr ? goal->epochs : 3), 2);
  text.comment("dtctl results shows the time until the accuracy on the test set first reaches this value.", 2);
  text.line(goal != nullptr ? fmt::format("target_accuracy: {}", goal->accuracy) : "# target_accuracy: 0.9", 2);
}

void write_train(Text& text, const RecipeChoices& choices)
{
  text.gap();
  text.comment("How long to train, and with how many samples per step.");
  text.line("train:");
  write_batch(text, choices);
  write_length(text, choices);
  text.comment("First steps, which train but are left out of the throughput.", 2);
  text.line("warmup_steps: 5", 2);
}

// Settings with which a strategy learns, as in the shipped recipes lenet-STRATEGY.
struct Advice {
  std::string_view strategy, optimizer, learning_rate, period;
};
constexpr std::array advices{Advice{"easgd", "sgd", "0.15", "1"},
                             Advice{"async-easgd", "sgd", "0.15", "1"},
                             Advice{"hogwild-easgd", "sgd", "0.15", "1"},
                             Advice{"sync-easgd", "sgd", "0.15", "1"},
                             Advice{"decentralized-easgd", "sgd", "0.15", "8"},
                             Advice{"async-sgd", "sgd", "0.03", "1"},
                             Advice{"hogwild-sgd", "sgd", "0.03", "1"},
                             Advice{"async-msgd", "momentum", "0.005", "1"},
                             Advice{"async-measgd", "momentum", "0.01", "1"},
                             Advice{"local-sgd", "momentum", "0.02", "8"},
                             Advice{"diloco", "momentum", "0.01", "8"}};

Advice advice_for(const std::string& strategy)
{
  const auto found = std::ranges::find(advices, strategy, &Advice::strategy);
  return found == advices.end() ? Advice{strategy, "momentum", "0.02", "1"} : *found;
}

// The values of a key for the strategies of the recipe.
std::vector<std::string> values_of(const RecipeChoices& choices, std::string_view Advice::*member)
{
  std::vector<std::string> values;
  for (const auto& strategy : choices.strategies) values.emplace_back(advice_for(strategy).*member);
  return values;
}

// Whether the strategies need different values, so that the sweep gives them.
bool differs(const RecipeChoices& choices, std::string_view Advice::*member)
{
  const auto values = values_of(choices, member);
  return std::ranges::find_if(values, [&](const auto& value) { return value != values.front(); }) != values.end();
}

void write_optimizer(Text& text, const RecipeChoices& choices)
{
  const bool has_name = !differs(choices, &Advice::optimizer), has_rate = !differs(choices, &Advice::learning_rate);
  const auto advice = advice_for(choices.strategies.front());
  text.gap();
  if (has_name && has_rate)
    text.comment("The update rule. The learning rate is the first value to try others of: add for example "
                 "--over optimizer.learning_rate=0.01..0.04 log 3 to dtctl sweep, in quotes.");
  else
    text.comment(fmt::format("The update rule. These strategies need different ones, so {} in the sweep below.",
                             has_name   ? "the learning rate is"
                             : has_rate ? "its name is"
                                        : "name and learning rate are"));
  text.line("optimizer:");
  if (has_name) text.line(fmt::format("name: {}", advice.optimizer), 2);
  if (has_rate) text.line(fmt::format("learning_rate: {}", advice.learning_rate), 2);
  text.comment("constant, step, polynomial or cosine", 2);
  text.line("schedule: constant", 2);
}

// Whether a line with the key's default would mean something else than no line.
bool is_only_suggested(std::string_view path) { return path == "sync.alpha" || path == "sync.rho" || path == "sync.progress"; }

// The value for a key that all strategies of the recipe read.
std::string value_for(const Key& key, const RecipeChoices& choices)
{
  const auto has_easgd =
      std::find(choices.strategies.begin(), choices.strategies.end(), "sync-easgd") != choices.strategies.end();
  // sync-easgd exchanges while it computes, which the default mpi cannot do without a core to spare.
  if (key.path == "sync.allreduce" && has_easgd) return "hierarchical";
  if (key.path == "sync.period") return std::string(advice_for(choices.strategies.front()).period);
  return to_text(default_of(key));
}

// A value for a key whose default is not a value that a recipe may give.
std::string suggested_value(const Key& key)
{
  if (key.path == "sync.alpha" || key.path == "sync.rho") return "0.1";
  return key.path == "sync.progress" ? "auto" : to_text(default_of(key));
}

std::vector<std::string> readers_among(const std::vector<std::string>& strategies, std::string_view path)
{
  std::vector<std::string> readers;
  std::copy_if(strategies.begin(), strategies.end(), std::back_inserter(readers),
               [&](const std::string& strategy) { return reads(strategy, path); });
  return readers;
}

// Whether the key is the first of a block within `sync`, such as `sync.outer`.
bool is_first_of_block(const Key& key)
{
  const auto block = key.path.substr(0, key.path.rfind('.') + 1);
  return std::ranges::find_if(spec_keys(), [&](const Key& other) { return other.path.starts_with(block); })->path == key.path;
}

// A key of `sync` that only some strategies read: as a line if all strategies of the recipe read it, else as a comment.
void write_sync_key(Text& text, const Key& key, const RecipeChoices& choices)
{
  const auto readers = readers_among(choices.strategies, key.path);
  if (readers.empty() || readers_of(key.path).empty()) return;
  const auto name = std::string(key.path.substr(std::string_view("sync.").size()));
  const bool read_by_all = readers.size() == choices.strategies.size();
  if (key.path == "sync.period" && differs(choices, &Advice::period)) return; // in the sweep
  const bool is_line = read_by_all && !is_only_suggested(key.path);
  const std::string mark = is_line ? "" : "# ";
  const auto point = name.find('.'); // "outer.rule" is a line of the block `outer`
  const bool is_nested = point != std::string::npos;
  const std::size_t indent = is_nested ? 4 : 2;
  if (is_nested && is_first_of_block(key)) text.line(mark + name.substr(0, point) + ":", 2);
  text.comment(std::string(key.help) + (read_by_all ? "" : " Only for " + listed(readers) + "."), indent);
  text.line(mark + (is_nested ? name.substr(point + 1) : name) + ": " +
                (is_line ? value_for(key, choices) : suggested_value(key)),
            indent);
}

void write_sync(Text& text, const RecipeChoices& choices)
{
  text.gap();
  const bool is_one = choices.strategies.size() == 1;
  text.comment(
      is_one ? "How the ranks keep in step. dtctl recipe strategies lists all strategies; --over sync.strategy=A,B compares some."
             : "How the ranks keep in step. The sweep below names the strategies.");
  text.line("sync:");
  if (is_one) {
    text.comment(strategy_row(choices.strategies.front()).name.help, 2);
    text.line("strategy: " + choices.strategies.front(), 2);
  } else {
    text.comment(find_key("sync.evaluate")->help, 2);
    text.line("evaluate: " + to_text(default_of(*find_key("sync.evaluate"))), 2);
  }
  for (const auto& key : spec_keys())
    if (key.path.starts_with("sync.")) write_sync_key(text, key, choices);
}

void write_size_of_run(Text& text, const RecipeChoices& choices)
{
  if (choices.unit == SizeUnit::nodes && !choices.profile_sets_ranks)
    text.line(fmt::format("ranks_per_node: {}", choices.ranks_per_node), 2);
  if (choices.unit == SizeUnit::nodes && !choices.study) text.line(fmt::format("nodes: {}", choices.sizes.front()), 2);
  if (choices.unit == SizeUnit::ranks && !choices.study) text.line(fmt::format("ranks_per_node: {}", choices.sizes.front()), 2);
  if (!choices.oversubscribe) return;
  text.comment("This machine has fewer cores than the largest size has ranks. They share cores, so the throughput of that size "
               "says little; on a machine with more cores remove this line.",
               2);
  text.line("oversubscribe: true", 2);
}

void write_threads(Text& text, const RecipeChoices& choices)
{
  if (choices.study == StudyMode::partition) {
    std::int64_t cores = 1;
    for (const auto parts : choices.sizes) cores = std::lcm(cores, parts);
    text.comment("The cores of the node that the study divides. It must be a multiple of every number of parts.", 2);
    text.line(fmt::format("threads_per_rank: {}", cores), 2);
  } else if (choices.profile.empty()) {
    text.comment("Each thread of a rank takes one core.", 2);
    text.line("threads_per_rank: 1", 2);
  }
}

void write_slurm(Text& text, const RecipeChoices& choices)
{
  if (!choices.on_slurm) {
    if (choices.profile.empty()) text.line("scheduler: local", 2); // a profile named `default` may say something else
    if (choices.without_mpi) {
      text.comment("There is no mpirun here, so dtctl itself starts the ranks. A program that uses MPI needs mpirun.", 2);
      text.line("launcher: dtjob", 2);
    }
    return;
  }
  text.line("scheduler: slurm", 2);
  if (choices.partition.empty())
    text.line("# partition: NAME", 2);
  else
    text.line("partition: " + yaml_scalar(choices.partition), 2);
  text.comment("Environment modules that provide MPI on the nodes:", 2);
  text.line("# modules: [openmpi]", 2);
}

void write_resources(Text& text, const RecipeChoices& choices)
{
  text.gap();
  text.comment("What each job gets. A job that takes longer than its time limit is ended.");
  if (choices.profile_sets_ranks)
    text.comment(fmt::format("The profile gives ranks_per_node, which is {}; a value here is stronger.", choices.ranks_per_node));
  if (choices.profile_sets_time) text.comment("The profile gives time_limit; a value here is stronger.");
  text.line("resources:");
  write_size_of_run(text, choices);
  write_threads(text, choices);
  if (!choices.profile_sets_time) text.line("time_limit: 1h", 2);
  write_slurm(text, choices);
}

std::string meaning_of(StudyMode mode)
{
  switch (mode) {
  case StudyMode::strong:
    return "the global batch stays the same, so each rank has less work as ranks are added.";
  case StudyMode::weak:
    return "the batch of each rank stays the same, so the global batch grows with the ranks.";
  case StudyMode::partition:
    return "the cores stay the same, and are divided into more or fewer ranks.";
  case StudyMode::scaling:
    return "strong or weak scaling, as the samples of a step tell that the program reports.";
  }
  return "";
}

std::string meaning_of(SizeUnit unit)
{
  switch (unit) {
  case SizeUnit::ranks:
    return "Sizes: ranks in all, on one node. On a cluster give nodes instead.";
  case SizeUnit::nodes:
    return "Sizes: nodes, with resources.ranks_per_node ranks each.";
  case SizeUnit::parts:
    return "Sizes: ranks into which the cores are divided.";
  }
  return "";
}

std::string key_of(SizeUnit unit) { return unit == SizeUnit::nodes ? "nodes" : unit == SizeUnit::parts ? "parts" : "ranks"; }

void write_study(Text& text, const RecipeChoices& choices)
{
  text.gap();
  if (!choices.study && choices.repeats == 1) {
    text.comment("To measure how the training scales, and how far runs differ, remove # here (and a fixed size above):");
    text.line("# study: { mode: strong, ranks: [1, 2], repeats: 3 }");
    return;
  }
  if (choices.study) text.comment(fmt::format("{}: {}", kind_words(choices), meaning_of(*choices.study)));
  text.line("study:");
  if (choices.study) {
    text.line("mode: " + std::string(name_of(*choices.study)), 2);
    text.comment(meaning_of(choices.unit), 2);
    text.line(key_of(choices.unit) + ": " + size_list(choices), 2);
  }
  text.comment("Runs per point. With fewer than 3 there are no confidence intervals.", 2);
  text.line(fmt::format("repeats: {}", choices.repeats), 2);
  if (choices.strategies.size() < 2) return;
  text.comment("Each repeat draws other first weights and another order of the samples, so that a lucky seed decides nothing.",
               2);
  text.line("vary_seed: true", 2);
}

void write_sweep(Text& text, const RecipeChoices& choices)
{
  if (choices.strategies.size() < 2) return;
  const std::array swept{std::pair("optimizer.name", &Advice::optimizer),
                         std::pair("optimizer.learning_rate", &Advice::learning_rate), std::pair("sync.period", &Advice::period)};
  const bool is_matrix = std::ranges::none_of(swept, [&](const auto& key) { return differs(choices, key.second); });
  text.gap();
  text.line("sweep:");
  text.comment(is_matrix ? "Every combination of these values is run."
                         : "The first values are one point, the second values the next. They are those of the shipped recipes "
                           "lenet-STRATEGY: tune the learning rate of each strategy for your network.",
               2);
  text.line(is_matrix ? "matrix:" : "zip:", 2);
  text.line(fmt::format("sync.strategy: [{}]", fmt::join(choices.strategies, ", ")), 4);
  for (const auto& [path, member] : swept)
    if (differs(choices, member)) text.line(fmt::format("{}: [{}]", path, fmt::join(values_of(choices, member), ", ")), 4);
  if (differs(choices, &Advice::period))
    text.comment("sync.period: steps between two exchanges of weights; a strategy that exchanges in every step does not read it.",
                 4);
}

} // namespace

std::string verb_for(const RecipeChoices& choices) { return choices.is_single() ? "submit" : "sweep"; }

std::string recipe_text(const RecipeChoices& choices)
{
  Text text;
  write_head(text, choices);
  if (choices.is_program()) {
    write_program(text, choices);
  } else {
    write_model(text, choices);
    write_data(text, choices);
    write_train(text, choices);
    write_optimizer(text, choices);
    write_sync(text, choices);
  }
  write_resources(text, choices);
  write_study(text, choices);
  write_sweep(text, choices);
  return text.take();
}

} // namespace dt::cli
