#include "cli/help/help.hpp"

#include "cli/command/commands.hpp"
#include "cli/help/synonyms.hpp"
#include "cli/output/layout.hpp"
#include "cli/output/terminal.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace dt::cli {
namespace {

constexpr std::size_t comfortable_columns = 110; // width if the output has no limit

using Entry = std::pair<std::string, std::string>; // what to type, and what it does

std::size_t page_width()
{
  const auto columns = describe_terminal(STDOUT_FILENO).columns;
  return columns == 0 ? comfortable_columns : std::min(columns, comfortable_columns);
}

std::string section(const std::string& title, const std::vector<Entry>& entries)
{
  if (entries.empty()) return "";
  std::size_t widest = 0;
  for (const auto& [what, does] : entries) widest = std::max(widest, display_width(what));
  const std::size_t indent = std::min<std::size_t>(widest, 26) + 4;
  std::string text = "\n" + title + ":\n";
  for (const auto& [what, does] : entries) {
    text += "  " + what;
    const auto used = display_width(what) + 2;
    if (used + 2 > indent)
      text += "\n" + std::string(indent, ' ');
    else
      text.append(indent - used, ' ');
    text += wrap(does, page_width(), indent) + "\n";
  }
  return text;
}

std::vector<Entry> option_entries(const std::vector<const CLI::Option*>& options)
{
  std::vector<Entry> entries;
  for (const auto* option : options) entries.emplace_back(signature(*option), option->get_description());
  return entries;
}

std::string verb_sections(const CLI::App& app)
{
  std::vector<std::pair<std::string, std::vector<Entry>>> groups;
  for (const auto* verb : visible_verbs(app)) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == verb->get_group(); });
    if (group == groups.end()) group = groups.insert(groups.end(), {verb->get_group(), {}});
    group->second.emplace_back(verb->get_name(), verb->get_description());
  }
  std::string text;
  for (const auto& [title, entries] : groups) text += section(title, entries);
  return text;
}

// Wraps paragraphs. Indented lines, such as examples, stay as they are.
std::string wrap_paragraphs(const std::string& text, std::size_t width)
{
  std::vector<std::string> lines;
  bool is_open = false; // whether the next line continues the last one
  for (const auto& line : split(text, '\n')) {
    const bool is_text = !line.empty() && line.front() != ' ';
    if (is_text && is_open)
      lines.back() += " " + line;
    else
      lines.push_back(line);
    is_open = is_text;
  }
  for (auto& line : lines)
    if (!line.empty() && line.front() != ' ') line = wrap(line, width, 0);
  return join(lines, "\n");
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override
  {
    std::vector<Entry> arguments;
    for (const auto* option : positionals(*app)) arguments.emplace_back(option->get_name(true, false), option->get_description());
    std::string text = wrap(app->get_description(), page_width(), 0) + "\n\nUsage: " + usage_line(*app) + "\n";
    text += section("Arguments", arguments) + verb_sections(*app) + section("Options", option_entries(visible_options(*app)));
    const auto footer = app->get_footer();
    return footer.empty() ? text : text + "\n" + wrap_paragraphs(footer, page_width()) + "\n";
  }
};

// Text below `dtctl --help`.
std::string root_footer()
{
  return "Selectors name runs: last (the newest study), the name of a study, the first digits of the id of a study or of the\n"
         "key of a run. --failed and --where 'strategy=sync-sgd nodes>=2' narrow them.\n"
         "\n"
         "Exit codes:\n"
         "  0  ok                                    4    partly submitted\n"
         "  1  runs failed                           5    regression\n"
         "  2  wrong command line or recipe          70   defect of dtctl\n"
         "  3  scheduler unreachable, or it refused  74   error of the machine\n"
         "                                           124  status --timeout has passed\n"
         "\n"
         "Environment: DTCTL_HOME (state, else $XDG_DATA_HOME/dtctl), DTCTL_ENGINE (dtengine), DTCTL_JOB_AGENT (dtjob), "
         "NO_COLOR, COLUMNS.\n"
         "\n"
         "Examples:\n"
         "  dtctl data make digits              make a data set\n"
         "  dtctl sweep quickstart --wait       run the shipped scaling study and wait for it\n"
         "  dtctl results                       print its results\n"
         "  dtctl sweep my.yaml --dry-run       print every run of a recipe, submit nothing\n"
         "  dtctl explain last --failed         explain why runs failed\n"
         "  dtctl help VERB                     explain one verb";
}

// Words that people type from habit, and what does here what they mean.
struct Habit {
  std::string_view word, verb;
};
constexpr std::array habits{Habit{"ls", "status --all"},
                            Habit{"list", "status --all"},
                            Habit{"studies", "status --all"},
                            Habit{"ps", "status"},
                            Habit{"wait", "status --follow --quiet"},
                            Habit{"top", "status --follow"},
                            Habit{"run", "sweep"},
                            Habit{"train", "sweep"},
                            Habit{"start", "sweep"},
                            Habit{"stop", "cancel"},
                            Habit{"kill", "cancel"},
                            Habit{"resume", "retry"},
                            Habit{"rm", "remove"},
                            Habit{"delete", "remove"},
                            Habit{"log", "logs"},
                            Habit{"baseline", "note --baselines"},
                            Habit{"models", "recipe models"},
                            Habit{"strategies", "recipe strategies"},
                            Habit{"recipes", "recipe list"},
                            Habit{"check", "validate"},
                            Habit{"init", "new"},
                            Habit{"info", "show"},
                            Habit{"diff", "compare"},
                            Habit{"sql", "query"},
                            Habit{"version", "--version"}};

// The verb of this name below `family`, or nullptr.
const CLI::App* find_verb(const CLI::App& family, const std::string& word)
{
  const auto found = family.get_subcommands([&](const CLI::App* known) { return known->get_name() == word; });
  return found.empty() ? nullptr : found.front();
}

// The refusal of a word after a verb that has no verbs below it.
Error unknown_word_after(const CLI::App& verb, const std::string& word, const CLI::App& root)
{
  const auto help = "dtctl help ";
  const auto name = verb_name(verb);
  return Error(ErrorKind::usage, "`dtctl " + name + "` has no verb `" + printable(word) + "`. Type: " + help + name +
                                     (find_verb(root, word) != nullptr ? ", or: " + (help + word) : ""));
}

} // namespace

void add_help_pages(CLI::App& root)
{
  root.formatter(std::make_shared<HelpFormatter>());
  root.footer(root_footer());
}

std::string welcome_page()
{
  return "dtctl runs scaling studies of distributed training. A YAML recipe becomes jobs, and the jobs become a table that\n"
         "says which strategy, on how many nodes, trains a network fastest, and where the efficiency went.\n"
         "\n"
         "Begin with:\n"
         "  dtctl data make digits           make a small data set\n"
         "  dtctl sweep quickstart --wait    train LeNet on 1 and 2 ranks, and wait for the runs\n"
         "  dtctl results                    print throughput, efficiency, accuracy and the verdict\n"
         "\n"
         "Help:\n"
         "  dtctl help                       all verbs, by task\n"
         "  dtctl help VERB                  options and examples of one verb\n"
         "  man dtctl                        everything on one page\n";
}

Error unknown_verb(const CLI::App& family, const std::string& word)
{
  std::vector<std::string> names;
  for (const auto* verb : visible_verbs(family)) names.push_back(verb->get_name());
  const auto habit = std::find_if(habits.begin(), habits.end(), [&](const Habit& known) { return known.word == word; });
  const auto near = nearest(word, names);
  const bool is_habit = family.get_parent() == nullptr && habit != habits.end();
  const auto meant = is_habit ? std::string(habit->verb) : near.value_or("");
  const auto parent = verb_name(family);
  const auto command = "dtctl " + (parent.empty() ? "" : parent + " ") + meant;
  return Error(ErrorKind::usage, unknown_name("verb", word, names, meant.empty() ? "" : command));
}

std::string help_page(const CLI::App& root, const std::vector<std::string>& words)
{
  const CLI::App* verb = &root;
  for (const auto& word : with_todays_verb(words)) {
    if (word.starts_with('-')) break; // the options that a synonym stands for
    const auto* found = find_verb(*verb, word);
    if (found == nullptr) throw visible_verbs(*verb).empty() ? unknown_word_after(*verb, word, root) : unknown_verb(*verb, word);
    verb = found;
  }
  // verb->help() would print the page of the verb that was parsed.
  return verb->get_formatter()->make_help(verb, "", CLI::AppFormatMode::Normal);
}

std::vector<const CLI::App*> visible_verbs(const CLI::App& app)
{
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::vector<const CLI::Option*> visible_options(const CLI::App& app)
{
  return app.get_options([](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& app)
{
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> spellings(const CLI::Option& option)
{
  std::vector<std::string> found;
  for (const auto& name : option.get_snames()) found.push_back("-" + name);
  for (const auto& name : option.get_lnames()) found.push_back("--" + name);
  return found;
}

std::string value_name(const CLI::Option& option)
{
  if (option.get_items_expected_max() == 0) return "";
  const auto name = option.get_type_name();
  return name.substr(0, name.find(':')); // CLI11 appends the names of validators after a colon
}

std::string signature(const CLI::Option& option)
{
  const auto names = join(spellings(option), ", ");
  const auto value = value_name(option);
  return value.empty() ? names : names + " " + value;
}

std::string usage_line(const CLI::App& app)
{
  const auto name = verb_name(app);
  std::string usage = "dtctl" + (name.empty() ? "" : " " + name);
  if (!visible_verbs(app).empty()) return usage + " VERB [OPTIONS]";
  usage += " [OPTIONS]";
  for (const auto* option : positionals(app)) {
    auto word = option->get_name(true, false);
    if (option->get_items_expected_max() > 1) word += "...";
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  return usage;
}

} // namespace dt::cli
