#include "cli/app.hpp"

#include "cli/command/commands.hpp"
#include "cli/help/help.hpp"
#include "cli/help/synonyms.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/machine/process.hpp"
#include "core/odd_characters.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace dt::cli {
namespace {

// Must be known before parsing, because a wrong command line is answered in JSON too.
bool wants_json(const std::vector<std::string>& arguments)
{
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

// The App of the verb in these words: "db check --json" -> check.
const CLI::App& verb_of(const CLI::App& root, const std::vector<std::string>& arguments)
{
  const CLI::App* verb = &root;
  for (const auto& word : arguments) {
    if (word.starts_with('-')) continue;
    const auto found = verb->get_subcommands([&](const CLI::App* known) { return known->get_name() == word; });
    if (found.empty()) break;
    verb = found.front();
  }
  return *verb;
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known)
{
  const auto near = nearest(wrong, known);
  return near ? "; did you mean " + *near + "?" : "";
}

std::string help_hint(const CLI::App& verb)
{
  return "see: dtctl " + verb_name(verb) + (verb_name(verb).empty() ? "" : " ") + "--help";
}

// Refuses the first word below `family` that should be a verb but is not.
void refuse_unknown_verb(const CLI::App& family, const std::vector<std::string>& arguments)
{
  if (visible_verbs(family).empty()) return;
  const auto known_word = [&](const std::string& word) {
    return word.starts_with('-') ||
           !family.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; }).empty();
  };
  const auto depth = split(verb_name(family), ' ').size() - (verb_name(family).empty() ? 1 : 0);
  std::vector<std::string> words;
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(words),
               [](const auto& word) { return !word.starts_with('-'); });
  if (words.size() > depth && !known_word(words[depth])) throw unknown_verb(family, words[depth]);
}

std::vector<std::string> option_names(const CLI::App& verb)
{
  std::vector<std::string> names;
  for (const auto* option : visible_options(verb))
    for (const auto& spelling : spellings(*option))
      if (spelling.starts_with("--")) names.push_back(spelling);
  return names;
}

// Describes the first argument that was not expected.
std::string describe_extra(const CLI::App& root, const CLI::App& verb)
{
  const auto extra = root.remaining(true);
  const auto word = extra.empty() ? std::string() : extra.front();
  if (!word.starts_with('-') || word.size() == 1) return "unexpected argument \"" + printable(word) + "\"";
  const auto name = word.substr(0, word.find('='));
  return "there is no option " + printable(name) + suggestion(name, option_names(verb));
}

// Converts an error of CLI11 to a usage error. Uses dtctl's own message where it is more helpful.
Error usage_error(const CLI::ParseError& error, const CLI::App& root, const CLI::App& verb)
{
  const auto message = [&]() -> std::string {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return describe_extra(root, verb);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !visible_verbs(verb).empty()) return "a verb is missing";
    return printable(error.what());
  }();
  return Error(ErrorKind::usage, message + "; " + help_hint(verb));
}

// If the verb passes on the words after "--", stores them there and returns the words before. Otherwise returns all words.
std::vector<std::string> without_rest(const Commands& commands, const CLI::App& verb, const std::vector<std::string>& arguments)
{
  auto* rest = commands.rest_of(verb);
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (rest == nullptr || end == arguments.end()) return arguments;
  rest->assign(end + 1, arguments.end());
  return {arguments.begin(), end};
}

void parse(Commands& commands, const std::vector<std::string>& arguments)
{
  const auto& verb = verb_of(commands.root(), arguments);
  refuse_unknown_verb(verb, arguments);
  const auto own = without_rest(commands, verb, arguments);
  try {
    std::vector<std::string> reversed(own.rbegin(), own.rend()); // CLI11 takes the words from the end
    commands.root().parse(std::move(reversed));
  } catch (const CLI::Success&) {
    throw; // help or version was requested
  } catch (const CLI::ParseError& error) {
    throw usage_error(error, commands.root(), verb);
  }
}

ExitCode dispatch(Commands& commands, const std::vector<std::string>& arguments, Output& out)
{
  if (arguments.empty()) {
    out.block("help", welcome_page());
    return ExitCode::ok;
  }
  try {
    parse(commands, arguments);
  } catch (const CLI::CallForVersion& version) {
    out.block("version", version.what());
    return ExitCode::ok;
  } catch (const CLI::Success&) {
    out.block("help", commands.selected().help());
    return ExitCode::ok;
  }
  if (commands.quiet()) out.be_quiet();
  const auto err = describe_terminal(STDERR_FILENO);
  const auto messages = make_messages(commands.quiet(), err.colour);
  Context context{out, *messages, describe_terminal(STDOUT_FILENO), err, wants_json(arguments)};
  const auto code = commands.action_of(commands.selected())(context);
  const bool is_verdict = code == ExitCode::ok || code == ExitCode::runs_failed; // the verdict is then based on incomplete data
  if (is_verdict && !context.unreadable.empty()) return ExitCode::environment;
  return is_verdict && !context.troubles.empty() ? ExitCode::scheduler_unreachable : code;
}

// If an argument contains a character that looks like another one or cannot be seen, the mistake may be that character: the error
// that says so.
std::optional<Error> error_with_odd_character(const Error& error, const std::vector<std::string>& arguments)
{
  if (exit_code_of(error.kind()) != ExitCode::usage) return std::nullopt;
  for (const auto& argument : arguments) {
    const auto odd = find_odd_character(argument);
    if (!odd || std::string_view(error.what()).find(odd->words) != std::string_view::npos) continue;
    return Error{error.kind(),
                 fmt::format("{}\nThe argument \"{}\" contains {}, as its character {}; type it again", error.what(),
                             printable(argument), odd->words, display_width(argument.substr(0, odd->offset)) + 1)};
  }
  return std::nullopt;
}

int fail(Output& out, const Error& error)
{
  const auto code = exit_code_of(error.kind());
  try {
    out.fail(error, code);
  } catch (const std::exception&) { // the message cannot be printed; the exit code still tells the caller
  }
  return static_cast<int>(code);
}

std::unique_ptr<Output> make_output(const Commands& commands, const std::vector<std::string>& arguments)
{
  if (wants_json(arguments)) return make_json_output(verb_name(verb_of(commands.root(), arguments)));
  return make_text_output(describe_terminal(STDOUT_FILENO), describe_terminal(STDERR_FILENO));
}

} // namespace

int run(const std::vector<std::string>& words)
{
  const auto arguments = with_todays_verb(words);
  survive_closed_pipes();
  survive_file_size_limit();
  Commands commands;
  register_verbs(commands);
  const auto out = make_output(commands, arguments);
  try {
    const auto code = dispatch(commands, arguments, *out);
    out->finish(code);
    return static_cast<int>(code);
  } catch (const Error& error) {
    const auto better = error_with_odd_character(error, arguments);
    return fail(*out, better ? *better : error);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(*out, system_error(error.path1().string(), error.code().value()));
  } catch (const std::bad_alloc&) {
    return fail(*out, Error(ErrorKind::environment, "out of memory"));
  } catch (const std::exception& error) {
    return fail(*out, Error(ErrorKind::internal, std::string(error.what()) + "; this is a defect of dtctl, please report it"));
  }
}

} // namespace dt::cli
