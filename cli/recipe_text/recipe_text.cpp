#include "cli/recipe_text/recipe_text.hpp"

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

// Collects lines. Comments are broken into lines of at most `width` columns.
class Text {
 public:
  void line(const std::string& text, std::size_t indent = 0) { text_ += std::string(indent, ' ') + text + "\n"; }
  void gap() { text_ += "\n"; }

  void comment(std::string_view sentences, std::size_t indent = 0)
  {
    constexpr std::size_t width = 100;
    std::string current = "#";
    for (const auto& word : split(sentences, ' ')) {
      if (current.size() > 1 && indent + display_width(current) + 1 + display_width(word) > width) {
        line(current, indent);
        current = "#";
      }
      current += " " + word;
    }
    line(current, indent);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& words)
{
  if (words.size() == 1) return words.front();
  return join(std::span(words).first(words.size() - 1), ", ") + " and " + words.back();
}

std::string size_list(const RecipeWishes& wishes) { return fmt::format("[{}]", fmt::join(wishes.sizes, ", ")); }

std::string kind_words(const RecipeWishes& wishes)
{
  if (!wishes.study) return wishes.strategies.size() > 1 ? "A comparison of strategies" : "One training";
  switch (*wishes.study) {
  case StudyMode::strong:
    return "A strong-scaling study";
  case StudyMode::weak:
    return "A weak-scaling study";
  case StudyMode::partition:
    return "A partition study";
  }
  return "";
}

std::string subject(const RecipeWishes& wishes)
{
  return fmt::format("{} of {} on {} with {}", kind_words(wishes), wishes.model, wishes.set.empty() ? wishes.data : wishes.set,
                     listed(wishes.strategies));
}

void write_head(Text& text, const RecipeWishes& wishes)
{
  const auto file = shell_quote(wishes.file.empty() ? "RECIPE.yaml" : wishes.file);
  text.comment(subject(wishes) + ".");
  text.comment("Written by dtctl new, to be changed: each block says what it sets, and what to change next.");
  text.line("#");
  if (wishes.data == "digits" || wishes.data == "shapes") text.line(fmt::format("#   dtctl data make {}", wishes.data));
  text.line(fmt::format("#   dtctl validate {}", file));
  text.line(fmt::format("#   dtctl plan {}", file));
  text.line(fmt::format("#   dtctl {} {} --wait", verb_for(wishes), file));
  text.line("#   dtctl results");
  text.line("#");
  text.comment("A key that is not here has its default; dtctl recipe docs prints all keys.");
  text.line("version: 1");
  text.line("name: " + yaml_scalar(wishes.name));
  text.line("description: " + yaml_scalar(subject(wishes)));
  if (wishes.profile.empty()) return;
  text.comment("The machine profile that supplies the resources; dtctl config show prints the profiles.");
  text.line("profile: " + yaml_scalar(wishes.profile));
}

// A small network that fits the images of every data set.
constexpr std::array example_layers{"- convolution: { channels: 8, kernel: 5, padding: 2 }", "- relu",
                                    "- max_pooling: { kernel: 4, stride: 4 }",
                                    "- inner_product: { outputs: classes }    # one output for each class of the data set"};

void write_model(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  if (wishes.model != "custom") {
    text.comment("The network to train. dtctl models lists all networks, dtctl models " + wishes.model +
                 " the layers of this one.");
    text.line(fmt::format("model: {{ name: {} }}", wishes.model));
    return;
  }
  text.comment("A network of your own: each layer takes the output of the one before. dtctl models --layers lists all kinds of "
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

void write_synthetic(Text& text, const RecipeWishes& wishes)
{
  const auto* facts = find_model_facts(wishes.model);
  const auto shape = facts ? facts->natural : InputShape{};
  text.comment("Random images of the shape for which the model was published, made in memory: for throughput, not for accuracy. "
               "With real images, name digits, shapes, mnist, cifar10 or cifar100 instead and remove the other keys.");
  text.line("data:");
  text.line("name: synthetic", 2);
  text.line(fmt::format("channels: {}", shape.channels), 2);
  text.line(fmt::format("height: {}", shape.height), 2);
  text.line(fmt::format("width: {}", shape.width), 2);
  text.line(fmt::format("classes: {}", shape.classes), 2);
  text.line(fmt::format("train_samples: {}", std::max<std::int64_t>(1024, 2 * largest_step(wishes))), 2);
  text.line("test_samples: 64", 2);
}

void write_packed(Text& text, const RecipeWishes& wishes)
{
  text.comment("A packed data set in the home of dtctl. dtctl data list lists these sets, dtctl data show " + wishes.set +
               " draws its images.");
  text.line("data:");
  text.line("name: packed", 2);
  text.line("set: " + yaml_scalar(wishes.set), 2);
  text.comment("Side in pixels of the square images that the network gets. Without it they are as the set has them.", 2);
  text.line(wishes.image_size > 0 ? fmt::format("image_size: {}", wishes.image_size) : "# image_size: 32", 2);
  text.comment("Training images that vary from epoch to epoch: pad moves them, random-resized takes parts of them.", 2);
  text.line("# crop: pad", 2);
  text.line("# flip: true", 2);
}

void write_data(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  if (wishes.data == "packed") return write_packed(text, wishes);
  if (wishes.data == "synthetic") return write_synthetic(text, wishes);
  text.comment("The data set. " + origin_of(wishes.data));
  text.line(fmt::format("data: {{ name: {} }}", wishes.data));
}

void write_batch(Text& text, const RecipeWishes& wishes)
{
  if (wishes.global_batch > 0) {
    text.comment("Samples of all ranks per step. It must be a multiple of the ranks that train, at every size.", 2);
    text.line(fmt::format("global_batch: {}", wishes.global_batch), 2);
  } else {
    text.comment("Samples of each rank per step.", 2);
    text.line(fmt::format("batch_per_rank: {}", wishes.batch_per_rank), 2);
  }
}

void write_train(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  text.comment("How long to train, and with how many samples per step.");
  text.line("train:");
  write_batch(text, wishes);
  if (wishes.data == "synthetic") {
    text.line("steps: 50", 2);
    text.comment("Random images cannot be learned, so only the end is evaluated.", 2);
    text.line("eval_every_epochs: 0", 2);
  } else {
    text.comment("Passes over the training set.", 2);
    text.line("epochs: 3", 2);
    text.comment("To measure the time to an accuracy:", 2);
    text.line("# target_accuracy: 0.9", 2);
  }
  text.comment("First steps, which train but are left out of the throughput.", 2);
  text.line("warmup_steps: 5", 2);
}

// An optimizer with which the strategy works, and a learning rate to begin with.
struct Optimizer {
  std::string name;
  std::string learning_rate;
};

Optimizer optimizer_for(const std::string& strategy)
{
  return strategy_row(strategy).rule == UpdateRule::plain ? Optimizer{"sgd", "0.05"} : Optimizer{"momentum", "0.02"};
}

bool need_different_optimizers(const RecipeWishes& wishes)
{
  const auto first = optimizer_for(wishes.strategies.front()).name;
  return std::any_of(wishes.strategies.begin(), wishes.strategies.end(),
                     [&](const std::string& strategy) { return optimizer_for(strategy).name != first; });
}

void write_optimizer(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  if (need_different_optimizers(wishes)) {
    text.comment("The optimizer. These strategies need different ones, so name and learning rate are in the sweep below.");
    text.line("optimizer:");
  } else {
    const auto optimizer = optimizer_for(wishes.strategies.front());
    text.comment("The update rule. The learning rate is the first value to try others of: add for example "
                 "--over optimizer.learning_rate=0.01,0.02,0.05 to dtctl sweep.");
    text.line("optimizer:");
    text.line("name: " + optimizer.name, 2);
    text.line("learning_rate: " + optimizer.learning_rate, 2);
  }
  text.comment("constant, step, polynomial or cosine", 2);
  text.line("schedule: constant", 2);
}

// Whether a line with the key's default would mean something else than no line.
bool is_only_suggested(std::string_view path) { return path == "sync.alpha" || path == "sync.rho" || path == "sync.progress"; }

// The value for a key that all strategies of the recipe read.
std::string value_for(const Key& key, const RecipeWishes& wishes)
{
  const auto has_easgd = std::find(wishes.strategies.begin(), wishes.strategies.end(), "sync-easgd") != wishes.strategies.end();
  // sync-easgd exchanges while it computes, which the default mpi cannot do without a core to spare.
  if (key.path == "sync.allreduce" && has_easgd) return "hierarchical";
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

// A key of `sync` that only some strategies read: as a line if all strategies of the recipe read it, else as a comment.
void write_sync_key(Text& text, const Key& key, const RecipeWishes& wishes)
{
  const auto readers = readers_among(wishes.strategies, key.path);
  if (readers.empty() || readers_of(key.path).empty()) return;
  const auto name = std::string(key.path.substr(std::string_view("sync.").size()));
  const bool read_by_all = readers.size() == wishes.strategies.size();
  text.comment(std::string(key.help) + (read_by_all ? "" : " Only for " + listed(readers) + "."), 2);
  if (read_by_all && !is_only_suggested(key.path))
    text.line(name + ": " + value_for(key, wishes), 2);
  else
    text.line("# " + name + ": " + suggested_value(key), 2);
}

void write_sync(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  const bool is_one = wishes.strategies.size() == 1;
  text.comment(is_one
                   ? "How the ranks keep in step. dtctl strategies lists all strategies; --over sync.strategy=A,B compares some."
                   : "How the ranks keep in step. The sweep below names the strategies.");
  text.line("sync:");
  if (is_one) {
    text.comment(strategy_row(wishes.strategies.front()).name.help, 2);
    text.line("strategy: " + wishes.strategies.front(), 2);
  } else {
    text.comment(find_key("sync.evaluate")->help, 2);
    text.line("evaluate: " + to_text(default_of(*find_key("sync.evaluate"))), 2);
  }
  for (const auto& key : spec_keys())
    if (key.path.starts_with("sync.")) write_sync_key(text, key, wishes);
}

void write_size_of_run(Text& text, const RecipeWishes& wishes)
{
  if (wishes.unit == SizeUnit::nodes) text.line(fmt::format("ranks_per_node: {}", wishes.ranks_per_node), 2);
  if (wishes.unit == SizeUnit::nodes && !wishes.study) text.line(fmt::format("nodes: {}", wishes.sizes.front()), 2);
  if (wishes.unit == SizeUnit::ranks && !wishes.study) text.line(fmt::format("ranks_per_node: {}", wishes.sizes.front()), 2);
}

void write_threads(Text& text, const RecipeWishes& wishes)
{
  if (wishes.study == StudyMode::partition) {
    std::int64_t cores = 1;
    for (const auto parts : wishes.sizes) cores = std::lcm(cores, parts);
    text.comment("The cores of the node that the study divides. It must be a multiple of every number of parts.", 2);
    text.line(fmt::format("threads_per_rank: {}", cores), 2);
  } else if (wishes.profile.empty()) {
    text.comment("Each thread of a rank takes one core.", 2);
    text.line("threads_per_rank: 1", 2);
  }
}

void write_slurm(Text& text, const RecipeWishes& wishes)
{
  if (!wishes.on_slurm) {
    if (wishes.profile.empty()) text.line("scheduler: local", 2); // a profile named `default` may say something else
    return;
  }
  text.line("scheduler: slurm", 2);
  if (wishes.partition.empty())
    text.line("# partition: NAME", 2);
  else
    text.line("partition: " + yaml_scalar(wishes.partition), 2);
  text.comment("Environment modules that provide MPI on the nodes:", 2);
  text.line("# modules: [openmpi]", 2);
}

void write_resources(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  text.comment("What each job gets. A job that takes longer than its time limit is ended.");
  text.line("resources:");
  write_size_of_run(text, wishes);
  write_threads(text, wishes);
  text.line("time_limit: 1h", 2);
  write_slurm(text, wishes);
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

void write_study(Text& text, const RecipeWishes& wishes)
{
  text.gap();
  if (!wishes.study && wishes.repeats == 1) {
    text.comment("To measure how the training scales, and how far runs differ, remove # here (and a fixed size above):");
    text.line("# study: { mode: strong, ranks: [1, 2], repeats: 3 }");
    return;
  }
  if (wishes.study) text.comment(fmt::format("{}: {}", kind_words(wishes), meaning_of(*wishes.study)));
  text.line("study:");
  if (wishes.study) {
    text.line("mode: " + std::string(name_of(*wishes.study)), 2);
    text.comment(meaning_of(wishes.unit), 2);
    text.line(key_of(wishes.unit) + ": " + size_list(wishes), 2);
  }
  text.comment("Runs per point. With fewer than 3 there are no confidence intervals.", 2);
  text.line(fmt::format("repeats: {}", wishes.repeats), 2);
}

void write_sweep(Text& text, const RecipeWishes& wishes)
{
  if (wishes.strategies.size() < 2) return;
  text.gap();
  text.line("sweep:");
  const auto strategies = fmt::format("sync.strategy: [{}]", fmt::join(wishes.strategies, ", "));
  if (!need_different_optimizers(wishes)) {
    text.comment("Every combination of these values is run.", 2);
    text.line("matrix:", 2);
    text.line(strategies, 4);
    return;
  }
  std::vector<std::string> names, rates;
  for (const auto& strategy : wishes.strategies) {
    names.push_back(optimizer_for(strategy).name);
    rates.push_back(optimizer_for(strategy).learning_rate);
  }
  text.comment("The first values are one point, the second values the next. Tune the learning rate of each strategy.", 2);
  text.line("zip:", 2);
  text.line(strategies, 4);
  text.line(fmt::format("optimizer.name: [{}]", fmt::join(names, ", ")), 4);
  text.line(fmt::format("optimizer.learning_rate: [{}]", fmt::join(rates, ", ")), 4);
}

} // namespace

std::string verb_for(const RecipeWishes& wishes) { return wishes.is_single() ? "submit" : "sweep"; }

std::string recipe_text(const RecipeWishes& wishes)
{
  Text text;
  write_head(text, wishes);
  write_model(text, wishes);
  write_data(text, wishes);
  write_train(text, wishes);
  write_optimizer(text, wishes);
  write_sync(text, wishes);
  write_resources(text, wishes);
  write_study(text, wishes);
  write_sweep(text, wishes);
  return text.take();
}

} // namespace dt::cli
