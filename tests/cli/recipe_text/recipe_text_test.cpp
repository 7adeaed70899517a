// What dtctl new writes, read by the recipe reader: every strategy, every model with every data set that fits it, every study.
#include "cli/recipe_text/recipe_text.hpp"

#include "cli/checks/engine_model.hpp"
#include "cli/recipe_text/program_text.hpp"
#include "core/files/file.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "recipes/recipe.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <tuple>

using namespace dt;
using namespace dt::cli;

namespace {

struct Kind {
  std::optional<StudyMode> study;
  SizeUnit unit;
};

constexpr Kind kinds[] = {{std::nullopt, SizeUnit::ranks},        {std::nullopt, SizeUnit::nodes},
                          {StudyMode::strong, SizeUnit::ranks},   {StudyMode::strong, SizeUnit::nodes},
                          {StudyMode::weak, SizeUnit::ranks},     {StudyMode::weak, SizeUnit::nodes},
                          {StudyMode::partition, SizeUnit::parts}};

RecipeChoices choices_for(const std::string& model, const std::string& data, std::vector<std::string> strategies,
                          const Kind& kind)
{
  RecipeChoices choices;
  choices.name = "new";
  choices.model = model;
  choices.data = data;
  choices.strategies = std::move(strategies);
  choices.study = kind.study;
  choices.unit = kind.unit;
  choices.repeats = kind.study ? 3 : 1;
  choices.sizes = default_sizes(choices, 8);
  choose_batch(choices);
  check_choices(choices);
  return choices;
}

recipes::Plan plan_of(const RecipeChoices& choices)
{
  static const test::TemporaryFolder folder;
  const auto file = folder.path() / "new.yaml";
  const auto text = recipe_text(choices);
  replace_file(file, text);
  INFO(text);
  auto plan = recipes::load_plan(file, {});
  REQUIRE_FALSE(plan.runs.empty());
  if (choices.strategies.size() == 1) REQUIRE(plan.warnings.empty());
  return plan;
}

bool fits(const std::string& model, const std::string& data)
{
  if (data == "packed") return false; // `dtctl new` offers the sets of the home by their names
  if (is_known_to_fit(model, data)) return true;
  DataSpec spec;
  spec.name = data;
  const auto shape = input_shape_of(spec).value();
  try {
    ask_engine({.model = model, .image = image_text(shape), .classes = shape.classes});
    return true;
  } catch (const Error& error) {
    REQUIRE(error.kind() == ErrorKind::recipe);
    return false;
  }
}

// Every model with every data set that fits it.
std::vector<std::pair<std::string, std::string>> pairs()
{
  ::setenv("DTCTL_ENGINE", DTCTL_BINARY_DIR "/bin/dtengine", 1);
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& model : strings_of(model_names()))
    for (const auto& data : strings_of(data_names()))
      if (fits(model, data)) found.emplace_back(model, data);
  return found;
}

// The keys of `sync` that the text sets, in lines that are no comments.
std::vector<std::string> keys_of_sync(const std::string& text)
{
  std::vector<std::string> keys;
  bool inside = false;
  std::string block; // "outer." in the block `outer`
  for (const auto& line : split(text, '\n')) {
    if (!line.empty() && line.front() != ' ') inside = line == "sync:";
    const auto word = std::string(trim(line));
    if (!inside || !line.starts_with("  ") || word.starts_with('#')) continue;
    if (!line.starts_with("    ")) block = word.ends_with(':') ? word.substr(0, word.size() - 1) + "." : "";
    if (!word.ends_with(':')) keys.push_back("sync." + block + word.substr(0, word.find(':')));
  }
  return keys;
}

} // namespace

TEST_CASE("every strategy with every model, every data set that fits it and every kind of study is a valid recipe")
{
  const auto all = pairs();
  CHECK(all.size() > 3 * model_names().size() / 2);
  for (const auto& [model, data] : all)
    for (const auto& strategy : strings_of(strategy_names()))
      for (const auto& kind : kinds) {
        INFO(model << " " << data << " " << strategy);
        const auto choices = choices_for(model, data, {strategy}, kind);
        const auto plan = plan_of(choices);
        REQUIRE(plan.runs.size() == choices.sizes.size() * static_cast<std::size_t>(choices.repeats));
        REQUIRE(plan.runs.front().model.name == model);
        REQUIRE(plan.runs.front().data.name == data);
        REQUIRE(plan.runs.front().sync.strategy == strategy);
        REQUIRE(plan.runs.front().study.mode == kind.study);
      }
}

TEST_CASE("every two strategies are compared in a valid recipe")
{
  for (const auto& one : strings_of(strategy_names()))
    for (const auto& other : strings_of(strategy_names()))
      for (const auto& kind : kinds) {
        if (one == other) continue;
        INFO(one << " " << other);
        const auto choices = choices_for("lenet", "digits", {one, other}, kind);
        REQUIRE(plan_of(choices).runs.size() == 2 * choices.sizes.size() * static_cast<std::size_t>(choices.repeats));
      }
}

TEST_CASE("a key of sync is set only where the strategy reads it, and has its default")
{
  for (const auto& strategy : strings_of(strategy_names())) {
    const auto choices = choices_for("lenet", "digits", {strategy}, kinds[0]);
    const auto keys = keys_of_sync(recipe_text(choices));
    const auto& run = plan_of(choices).runs.front();
    INFO(strategy << ": " << join(keys, ", "));
    CHECK(keys.front() == "sync.strategy");
    for (const auto& path : keys) {
      CHECK(reads(strategy, path));
      const auto& key = *find_key(path);
      const bool polls = path == "sync.allreduce" && strategy == "sync-easgd"; // mpi cannot be polled
      const bool is_rare =
          path == "sync.period" && (strategy == "local-sgd" || strategy == "diloco" || strategy == "decentralized-easgd");
      if (is_rare) CHECK(run.sync.period == 8); // with 1 they would exchange in every step
      if (path != "sync.strategy" && !polls && !is_rare) CHECK(value_of(run, key) == default_of(key));
    }
  }
  const auto easgd = keys_of_sync(recipe_text(choices_for("lenet", "digits", {"easgd"}, kinds[0])));
  CHECK(easgd ==
        std::vector<std::string>{"sync.strategy", "sync.period", "sync.elastic", "sync.servers", "sync.server_placement"});
}

TEST_CASE("every key of sync that the strategy reads has its help as a comment")
{
  for (const auto& strategy : strings_of(strategy_names())) {
    const auto text = recipe_text(choices_for("lenet", "digits", {strategy}, kinds[0]));
    std::string joined; // without the line breaks of comments
    for (const auto& line : split(text, '\n')) joined += std::string(trim(line)).substr(line.find('#') == line.npos ? 0 : 1);
    for (const auto& key : spec_keys()) {
      if (!key.path.starts_with("sync.") || readers_of(key.path).empty()) continue;
      INFO(strategy << " " << key.path);
      CHECK((joined.find(key.help) != joined.npos) == reads(strategy, key.path));
    }
  }
}

TEST_CASE("a comparison gives each strategy a period and a learning rate that suit it, and a target")
{
  const auto plan = plan_of(choices_for("lenet", "digits", {"sync-sgd", "local-sgd", "easgd"}, kinds[2]));
  std::map<std::string, std::tuple<std::int64_t, std::string, double>> settings;
  for (const auto& run : plan.runs) {
    CHECK(run.train.target_accuracy == 0.97);
    settings[run.sync.strategy] = {run.sync.period, run.optimizer.name, run.optimizer.learning_rate};
  }
  CHECK(settings.at("sync-sgd") == std::tuple(1, "momentum", 0.02));
  CHECK(settings.at("local-sgd") == std::tuple(8, "momentum", 0.02));
  CHECK(settings.at("easgd") == std::tuple(1, "sgd", 0.15));
}

TEST_CASE("what the profile gives is not in the recipe")
{
  auto choices = choices_for("lenet", "digits", {"sync-sgd"}, kinds[3]);
  choices.profile = "team";
  CHECK(recipe_text(choices).find("\n  ranks_per_node: 1\n") != std::string::npos);
  CHECK(recipe_text(choices).find("\n  time_limit: 1h\n") != std::string::npos);
  choices.profile_sets_ranks = choices.profile_sets_time = true;
  choices.ranks_per_node = 4;
  CHECK(recipe_text(choices).find("\n  ranks_per_node:") == std::string::npos);
  CHECK(recipe_text(choices).find("\n  time_limit:") == std::string::npos);
  CHECK(recipe_text(choices).find("The profile gives ranks_per_node, which is 4") != std::string::npos);
}

TEST_CASE("a recipe for a program of the user's own is valid for every kind of study, and quotes hostile names")
{
  const test::TemporaryFolder folder;
  for (const std::string name : {"train.py", "a b/t: x.py", "run"})
    for (const auto& kind : kinds) {
      RecipeChoices choices;
      choices.name = "mine";
      choices.program = name;
      choices.command = command_for(name, true);
      choices.study = kind.study;
      choices.unit = kind.unit;
      choices.sizes = default_sizes(choices, 8);
      check_choices(choices);
      const auto text = recipe_text(choices);
      replace_file(folder.path() / "new.yaml", text);
      INFO(text);
      const auto plan = recipes::load_plan(folder.path() / "new.yaml", {});
      CHECK(plan.warnings.empty());
      CHECK(plan.runs.front().program.command == choices.command);
      CHECK(plan.runs.front().program.files == std::vector{(folder.path() / "." / name).string()});
    }
  CHECK(command_for("train.py", false) == std::vector<std::string>{"python3", "train.py"});
  CHECK(command_for("run", false).empty());
}

TEST_CASE("a recipe names the schema in its first line, in which no blank may stand")
{
  auto choices = choices_for("lenet", "digits", {"sync-sgd"}, kinds[2]);
  const auto without = recipe_text(choices);
  CHECK(without.starts_with("# A strong-scaling study"));
  choices.schema = "/opt/dtctl/share/dtctl/recipe.schema.json";
  CHECK(recipe_text(choices) == "# yaml-language-server: $schema=/opt/dtctl/share/dtctl/recipe.schema.json\n" + without);
  choices.schema = "/home/me/my programs/recipe.schema.json";
  CHECK(recipe_text(choices) == "# yaml-language-server: $schema=file:///home/me/my%20programs/recipe.schema.json\n" + without);
}

TEST_CASE("names of hostile text end as the texts that they are")
{
  for (const std::string text :
       {"a: b # c", "\"; rm -rf ~; \"", "'", "- [x]", "{", "!!python/object", "null", "\\x41", "&a *a"}) {
    auto choices = choices_for("lenet", "digits", {"sync-sgd"}, kinds[3]);
    choices.name = text;
    choices.on_slurm = true;
    choices.partition = text;
    choices.file = text + ".yaml";
    const auto plan = plan_of(choices);
    CHECK(plan.name == text);
    CHECK(plan.runs.front().resources.partition == text);
  }
}
