#include "engine/bindings/settings.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/lookup.hpp"
#include "core/number.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "engine/comm/machine/library.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace dt::bindings {
namespace {

namespace fs = std::filesystem;

bool is_settable(const Key& key)
{
  return key.field != nullptr &&
         (key.path.starts_with("sync.") || key.path.starts_with("optimizer.") || key.path == "train.warmup_steps" ||
          key.path == "train.stall_after" || key.path == "train.noise_scale" || key.path == "resources.threads_per_rank" ||
          key.path == "resources.nodes_per_supernode");
}

const Key& key_named(std::string_view path)
{
  if (const auto* key = find_key(path); key != nullptr && is_settable(*key)) return *key;
  std::vector<std::string> allowed;
  for (const auto& key : spec_keys())
    if (is_settable(key)) allowed.emplace_back(key.path);
  throw Error(ErrorKind::recipe, unknown_name("setting", path, allowed) + ".");
}

template<class Number> Number number_in_range(std::string_view text, const Key& key)
{
  const auto value = number_of<Number>(text);
  if (!value || static_cast<double>(*value) < key.min || static_cast<double>(*value) > key.max)
    throw Error(ErrorKind::recipe, fmt::format("{} is `{}`, but must be a number from {} to {}.", key.path, printable(text),
                                               format_shortest(key.min), format_shortest(key.max)));
  return *value;
}

FieldValue parse(std::string_view text, const Key& key)
{
  switch (key.type) {
  case KeyType::integer:
  case KeyType::duration: // in seconds
    return number_in_range<std::int64_t>(text, key);
  case KeyType::real:
    return number_in_range<double>(text, key);
  case KeyType::boolean:
    if (text == "true" || text == "false") return text == "true";
    throw Error(ErrorKind::recipe, fmt::format("{} is `{}`, but must be true or false.", key.path, printable(text)));
  case KeyType::text:
  case KeyType::choice:
    if (!key.choices.empty() && !contains(key.choices, text))
      throw Error(ErrorKind::recipe, fmt::format("{}: {}.", key.path, unknown_name("value", text, strings_of(key.choices))));
    return std::string(text);
  default:
    throw Error(ErrorKind::recipe, fmt::format("{} can be given in a recipe only.", key.path));
  }
}

void set_words(std::string_view words, RunSpec& spec)
{
  std::string separated(words);
  std::ranges::replace(separated, '\n', ' ');
  for (const auto& word : split(separated, ' ')) {
    if (word.empty()) continue;
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorKind::recipe, fmt::format("`{}` is no setting; write KEY=VALUE, as in sync.period=4.", printable(word)));
    const auto& key = key_named(std::string_view(word).substr(0, equals));
    set_value(spec, key, parse(std::string_view(word).substr(equals + 1), key));
  }
}

// Without a recipe: sums run beside the backward pass where the machine allows it.
void set_own_defaults(RunSpec& spec)
{
  spec.sync.allreduce = "ring";
  spec.sync.progress = ProgressMode::automatic;
}

// A program that is a point of a sweep does not get the recipe's block `sync`, which is that of the points that run dtengine. So
// a run that would train under another strategy than the recipe seems to say ends here.
void require_strategy(std::string_view words)
{
  if (words.find("sync.strategy=") == std::string_view::npos)
    throw Error(ErrorKind::recipe,
                "The recipe gives this program no strategy. Give `sync.strategy` in the recipe; if `program.command` "
                "is a point of a sweep, give `sync.strategy` in the sweep too. Or name the strategy in the program.");
}

} // namespace

Settings read_settings(std::string_view words)
{
  Settings settings;
  if (comm::has_mpi() && std::getenv("DTCTL_LAUNCHER") != nullptr)
    throw Error(
        ErrorKind::recipe,
        "The launcher in `program.command` gives its ranks no RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, by which the "
        "ranks of dtctl_sync find each other: take torchrun or another launcher that does, or remove "
        "`program.launch: per-node` and the launcher, so that dtctl starts the ranks.");
  if (const char* path = std::getenv("DTCTL_SPEC"); path != nullptr && *path != '\0') {
    const auto run = parse_planned_run(read_file(path), path);
    settings.spec = run.spec;
    settings.cache = fs::path(path).parent_path().parent_path().parent_path() / "cache";
    if (const char* report = std::getenv("DTCTL_REPORT"); report != nullptr && *report != '\0')
      settings.attempt.emplace(fs::path(report).parent_path().parent_path());
    if (run.spec.program.sync) return settings;
    require_strategy(words);
    settings.spec.sync = {};
  }
  set_own_defaults(settings.spec);
  set_words(words, settings.spec);
  return settings;
}

} // namespace dt::bindings
