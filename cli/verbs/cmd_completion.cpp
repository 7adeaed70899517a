// dtctl completion, and the hidden verbs __complete (called by the shells) and man (called by the build).
#include "cli/data/data_sets.hpp"
#include "cli/help/completion.hpp"
#include "cli/help/help.hpp"
#include "cli/help/synonyms.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/report/chart/charts.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/record/baselines.hpp"
#include "core/record/notes.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "store/query/queries.hpp"

#include <filesystem>
#include <memory>
#include <set>

namespace dt::cli {
namespace {

constexpr std::int64_t offered_studies = 30;

// Reads the database without an update: a key press must not wait for schedulers.
std::vector<Candidate> selectors(const Home& home)
{
  std::vector<Candidate> candidates{{"last", "the newest study"}, {"all", "every run"}};
  if (!store::holds_anything(home.database())) return candidates;
  store::Database database(home.database(), store::Access::read_only);
  const auto studies = store::list_studies(database, offered_studies);
  for (const auto& study : studies)
    candidates.push_back({printable(study.name), "study of " + std::to_string(study.runs) + " runs"});
  if (studies.empty()) return candidates;
  for (const auto& run : store::runs_of_study(database, studies.front().id))
    candidates.push_back({short_key(run.key), printable(run.name)});
  return candidates;
}

std::vector<Candidate> studies(const Home& home)
{
  std::vector<Candidate> candidates{{"last", "the newest study"}};
  if (!store::holds_anything(home.database())) return candidates;
  store::Database database(home.database(), store::Access::read_only);
  for (const auto& study : store::list_studies(database, offered_studies))
    candidates.push_back({printable(study.name), "study of " + std::to_string(study.runs) + " runs"});
  return candidates;
}

std::vector<Candidate> tag_candidates(const Home& home)
{
  std::set<std::string> names;
  for (const auto& [id, note] : read_notes(home)) names.insert(note.tags.begin(), note.tags.end());
  std::vector<Candidate> candidates;
  for (const auto& name : names) candidates.push_back({name, "tag"});
  return candidates;
}

std::vector<Candidate> keys()
{
  std::vector<Candidate> candidates;
  for (const auto& key : spec_keys())
    if (key.field != nullptr) candidates.push_back({std::string(key.path) + "=", std::string(key.help)});
  return candidates;
}

std::vector<Candidate> named(std::span<const Name> names)
{
  std::vector<Candidate> candidates;
  for (const auto& name : names) candidates.push_back({std::string(name.name), std::string(name.help)});
  return candidates;
}

std::vector<Candidate> values_of(Context& context, const CLI::App& root, const std::string& kind)
{
  std::vector<Candidate> candidates;
  if (kind == "VERB")
    for (const auto* verb : visible_verbs(root)) candidates.push_back({verb->get_name(), verb->get_description()});
  if (kind == "SELECTOR") return selectors(context.home());
  if (kind == "STUDY") return studies(context.home());
  if (kind == "TAG") return tag_candidates(context.home());
  if (kind == "BASELINE")
    for (const auto& [name, baseline] : read_baselines(context.home())) candidates.push_back({name, baseline.study_name});
  if (kind.starts_with("KEY=")) return keys();
  if (kind == "MODEL") return named(model_names());
  if (kind == "DATA") return named(data_names());
  if (kind == "SET")
    for (const auto& set : data_sets(context.home())) candidates.push_back({set.name, set.kind});
  if (kind == "FIGURE")
    for (const auto& figure : chart_kinds()) candidates.push_back({std::string(figure.name), std::string(figure.help)});
  if (kind == "STRATEGIES") return named(strategy_names());
  if (kind == "RECIPE")
    for (const auto& recipe : shipped_recipes()) candidates.push_back({recipe.name, "shipped recipe"});
  if (kind == "PLATFORM")
    for (const auto& platform : recipes::list_platforms()) candidates.push_back({platform.name, platform.description});
  if (kind == "NAME")
    for (const auto& profile : recipes::list_profiles(load_options({}))) candidates.push_back({profile.name, profile.file});
  return candidates;
}

// Completes the word under the cursor. Offers nothing in case of an error.
ExitCode print_candidates(Context& context, const CLI::App& root, const std::vector<std::string>& words)
{
  Completion completion;
  try {
    completion = complete(root, words.size() > 1 ? with_todays_verb(words) : words,
                          [&](const std::string& kind) { return values_of(context, root, kind); });
  } catch (const Error&) { // an error message in the middle of a command line would only disturb
  }
  std::string text;
  for (const auto& candidate : completion.candidates) text += candidate.word + "\t" + candidate.help + "\n";
  if (completion.files) text += ":files\n";
  context.out.block("candidates", text);
  return ExitCode::ok;
}

} // namespace

void add_completion(Commands& commands)
{
  auto shell = std::make_shared<std::string>();
  auto& verb = commands.add({"completion", keep_verbs, "Completions for a shell: verbs, options, recipes, studies, runs.",
                             "Installed by the package. Examples, by hand:\n"
                             "  source <(dtctl completion bash)\n"
                             "  dtctl completion zsh > \"${fpath[1]}/_dtctl\"\n"
                             "  dtctl completion fish > ~/.config/fish/completions/dtctl.fish"},
                            [shell](Context& context) {
                              context.out.block("script", completion_script(*shell));
                              return ExitCode::ok;
                            });
  verb.add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("bash|zsh|fish");
}

void add_complete(Commands& commands)
{
  auto words = std::make_shared<std::vector<std::string>>();
  auto& verb =
      commands.add({"__complete", "", "Print the completions of the last word.", ""},
                   [words, &root = commands.root()](Context& context) { return print_candidates(context, root, *words); });
  verb.add_option("WORDS", *words, "the words after dtctl")->type_name("WORDS");
}

void add_man(Commands& commands)
{
  commands.add({"man", "", "The manual page, in roff.", ""}, [&root = commands.root()](Context& context) {
    context.out.block("roff", manual_page(root));
    return ExitCode::ok;
  });
}

} // namespace dt::cli
