#include "recipes/expansion/placeholders.hpp"

#include "core/error.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "recipes/reading/diagnostics.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace dt::recipes {
namespace {

using TextMap = std::map<std::string, std::string>;

Error refusal(const std::string& what) { return {ErrorKind::recipe, what}; }

constexpr std::string_view environment = "resources.env";

bool has_one_value(const Key& key)
{
  using enum KeyType;
  return key.type != structure && key.type != integer_list && key.type != text_list && key.type != text_map;
}

// The keys that a placeholder can name in this run.
std::vector<std::string> names_of(const RunSpec& run)
{
  std::vector<std::string> names;
  for (const auto& key : spec_keys()) {
    if (has_one_value(key)) names.emplace_back(key.path);
    if (key.type != KeyType::text_map) continue;
    const auto map = value_of(run, key);
    if (key.path == environment) continue;
    for (const auto& [name, text] : std::get<TextMap>(map)) names.push_back(std::string(key.path) + "." + name);
  }
  return names;
}

std::string shown(std::string_view name) { return ticked("{" + std::string(name) + "}"); }

Error unknown(std::string_view name, const RunSpec& run)
{
  const auto names = names_of(run);
  std::vector<std::string> ends; // also `learning_rate` is near to optimizer.learning_rate
  for (const auto& known : names)
    if (known.substr(known.rfind('.') + 1) == name) ends.push_back(known);
  const auto near = ends.size() == 1 ? std::optional(ends.front()) : nearest(name, names);
  return refusal("names the unknown key " + shown(name) +
                 (near ? "; did you mean " + shown(*near) + "?" : "; keys are full paths, such as `{optimizer.name}`.") +
                 " Write `{{` and `}}` for braces");
}

// The entry "parameters.hidden" of the map program.parameters; null if there is no such map or entry.
const std::string* entry_of(std::string_view name, const RunSpec& run)
{
  const auto dot = name.find('.', name.find('.') + 1);
  const Key* key = dot == name.npos ? nullptr : find_key(name.substr(0, dot));
  if (key == nullptr || key->type != KeyType::text_map) return nullptr;
  const auto& map = *std::get<TextMap*>(key->field(const_cast<RunSpec&>(run)));
  const auto found = map.find(std::string(name.substr(dot + 1)));
  return found == map.end() ? nullptr : &found->second;
}

// Command lines are no place for secrets: `ps` shows them to every user of a machine, and the database contains them.
void refuse_environment(std::string_view name)
{
  if (!name.starts_with(std::string(environment) + ".")) return;
  throw refusal("names " + shown(name) +
                ", but values of `resources.env` may be secret, and a command line can be seen by others. The program gets the "
                "variable " +
                std::string(name.substr(environment.size() + 1)) +
                " anyway: let it read the variable from its environment, or put values that are not secret into "
                "`program.parameters`");
}

std::string value_for(std::string_view name, const RunSpec& run)
{
  refuse_environment(name);
  if (const auto* entry = entry_of(name, run)) return *entry;
  const Key* key = find_key(name);
  if (key == nullptr) throw unknown(name, run);
  if (!has_one_value(*key))
    throw refusal("names " + shown(name) + ", which has no single value; the JSON file DTCTL_SPEC has it");
  auto text = dt::to_text(value_of(run, *key));
  if (text.empty()) throw refusal("names " + shown(name) + ", which has no value in this run");
  return text;
}

} // namespace

std::string with_values(std::string_view word, const RunSpec& run)
{
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_doubled = i + 1 < word.size() && word[i + 1] == word[i];
    if (word[i] != '{' && word[i] != '}') {
      text += word[i];
    } else if (is_doubled) {
      text += word[i++];
    } else {
      const auto end = word[i] == '{' ? word.find('}', i) : word.npos;
      if (end == word.npos)
        throw refusal(std::string("has a `") + word[i] + "` without its partner; write a brace twice: `{{`, `}}`");
      text += value_for(trim(word.substr(i + 1, end - i - 1)), run);
      i = end;
    }
  }
  return text;
}

} // namespace dt::recipes
