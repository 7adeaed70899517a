#include "cli/help/completion.hpp"

#include "cli/help/help.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace dt::cli {
namespace {

const CLI::Option* find_option(const CLI::App& verb, const std::string& word)
{
  for (const auto* option : visible_options(verb)) {
    const auto names = spellings(*option);
    if (std::find(names.begin(), names.end(), word) != names.end()) return option;
  }
  return nullptr;
}

// The position on the command line after the words before the cursor.
struct Place {
  const CLI::App* verb;
  std::size_t arguments = 0;            // number of positional words so far
  const CLI::Option* pending = nullptr; // an option that still needs its value
  bool only_arguments = false;          // "--" was given
};

void step(Place& place, const std::string& word)
{
  if (place.pending != nullptr) {
    place.pending = nullptr;
  } else if (place.only_arguments) {
    ++place.arguments;
  } else if (word == "--") {
    place.only_arguments = true;
  } else if (word.starts_with('-')) {
    const auto* option = find_option(*place.verb, word);
    if (option != nullptr && !value_name(*option).empty()) place.pending = option;
  } else {
    const auto below = place.verb->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; });
    if (below.empty())
      ++place.arguments;
    else
      place.verb = below.front();
  }
}

std::vector<Candidate> option_candidates(const CLI::App& verb)
{
  std::vector<Candidate> candidates;
  for (const auto* option : visible_options(verb))
    for (const auto& name : spellings(*option)) candidates.push_back({name, option->get_description()});
  return candidates;
}

std::vector<Candidate> verb_candidates(const CLI::App& verb)
{
  std::vector<Candidate> candidates;
  for (const auto* below : visible_verbs(verb)) candidates.push_back({below->get_name(), below->get_description()});
  return candidates;
}

// Candidates for an argument or an option's value: the alternatives that its type names ("csv|json"), else the current values.
Completion value_candidates(const CLI::Option& option, const Values& values)
{
  const auto kind = value_name(option);
  if (kind.find('|') == std::string::npos) return {values(kind), kind == "RECIPE" || kind == "FILE" || kind == "FOLDER"};
  Completion completion;
  for (const auto& word : split(kind, '|')) completion.candidates.push_back({word, ""});
  return completion;
}

Completion all_candidates(const Place& place, const std::string& current, const Values& values)
{
  if (place.pending != nullptr) return value_candidates(*place.pending, values);
  if (current.starts_with('-') && !place.only_arguments) return {option_candidates(*place.verb), false};
  if (auto verbs = verb_candidates(*place.verb); !verbs.empty()) return {std::move(verbs), false};
  const auto arguments = positionals(*place.verb);
  return place.arguments < arguments.size() ? value_candidates(*arguments[place.arguments], values) : Completion{};
}

constexpr const char* bash_script = R"(# dtctl completion for bash
_dtctl() {
  local current=${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      ':files') compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
      *) line=${line%%$'\t'*}; [[ $line == *= ]] && compopt -o nospace 2>/dev/null; COMPREPLY+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _dtctl dtctl
)";

constexpr const char* zsh_script = R"(#compdef dtctl
# dtctl completion for zsh
_dtctl() {
  local -a lines candidates
  local line files
  lines=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == ':files' ]]; then files=1; else candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); fi
  done
  (( $#candidates )) && _describe 'dtctl' candidates
  [[ -n $files ]] && _files
}
if [ "$funcstack[1]" = "_dtctl" ]; then _dtctl "$@"; else compdef _dtctl dtctl; fi
)";

constexpr const char* fish_script = R"(# dtctl completion for fish
function __dtctl_candidates
    set -l words (commandline -opc)
    $words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null | while read -l line
        if test "$line" = ':files'
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c dtctl -f -a '(__dtctl_candidates)'
)";

} // namespace

Completion complete(const CLI::App& root, const std::vector<std::string>& words, const Values& values)
{
  if (words.empty()) return {};
  Place place{.verb = &root};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) step(place, words[i]);
  auto completion = all_candidates(place, words.back(), values);
  std::erase_if(completion.candidates, [&](const Candidate& candidate) { return !candidate.word.starts_with(words.back()); });
  return completion;
}

std::string completion_script(const std::string& shell)
{
  if (shell == "bash") return bash_script;
  if (shell == "zsh") return zsh_script;
  if (shell == "fish") return fish_script;
  throw Error(ErrorKind::usage, "no completions for shell \"" + printable(shell) + "\"; supported: bash, zsh, fish");
}

} // namespace dt::cli
