// Generates the reference of all keys from the table that the reader checks with.
#include "recipes/recipe.hpp"

#include "core/spec/layer_schema.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "recipes/reading/values.hpp"

namespace dt::recipes {
namespace {

constexpr std::string_view introduction = R"(# Recipe reference

A recipe is one YAML file. Every key of every block stands below; unknown keys are refused. `dtctl recipe schema -o FILE`
writes the same as a JSON Schema for editors.

```yaml
version: 1
model: { name: lenet }
data: { name: digits }
train: { global_batch: 128, epochs: 3 }
study: { mode: strong, ranks: [1, 2], repeats: 3 }
```

Where a value comes from, the weakest first: the default, the machine profile, the recipe that this one `extends`, the
recipe itself, `--set key.path=value`, a point of the sweep. Maps (`resources.env`) are merged name by name; everything else,
lists too, is replaced. Of two keys that exclude each other (`train.epochs` and `train.steps`) the stronger layer's counts.
`name` and `description` are never inherited. Relative paths are relative to the file they stand in.

A key at the top that begins with `x-` is the author's own: dtctl ignores it, so it is a place for YAML anchors
(`x-train: &short { epochs: 1 }`, and below `train: { <<: *short }`).

Numbers are written without quotes, booleans as `true` and `false`, and texts with or without quotes.

)";

constexpr std::string_view sweeps = R"(## Sweeps

Keys are full paths; one variable of `resources.env` is a path too (`resources.env.OMP_WAIT_POLICY`).

```yaml
sweep:
  matrix:                                  # every combination, the last key varies fastest
    optimizer.learning_rate: [0.01, 0.02, 0.05]
    optimizer.momentum: [0.8..0.9 linear 3] # a range: 0.8, 0.85, 0.9; also 0.001..1 log 4, and 1..4 for whole numbers
  zip:                                     # first with first, second with second; combined with the matrix
    train.global_batch: [64, 128]
    optimizer.warmup_epochs: [0, 1]
  exclude:                                 # conditions on runs of matrix and zip; any that holds leaves the run out
    - { optimizer.learning_rate: 0.05, train.global_batch: 64 }
    - { optimizer.learning_rate: [0.01, 0.02], train.global_batch: 128 }
    - train.global_batch>=128 optimizer.learning_rate<0.02
  include:                                 # further points, never excluded
    - { optimizer.learning_rate: 0.5 }
```

A condition is a map of keys to equal values (of a list any is enough), or a text of comparisons with `=`, `!=`, `<`, `<=`, `>` and `>=`; all of them must
hold. It sees the finished run: its size too, also as `ranks`. `--over key=a,b,c` adds an axis to the matrix, or takes the place
of the axis it has for that key. A condition that leaves nothing out is a warning.

One item of a list may be a range of numbers, on the command line too: `0.001..1 log 4` is 0.001, 0.01, 0.1, 1 (equal ratios), `0..1 linear 5`
is 0, 0.25, 0.5, 0.75, 1 (equal differences), and `1..4` is each whole number. Both ends belong to it; in between, numbers that are not whole are
rounded to six digits.

A sweep and a study combine: each point at each size, `study.repeats` times. In random order each repeat is a round of its own in
which every run comes once. A recipe makes at most 1,000,000 runs.

## Ladders

`study.layout: ladder` (on Slurm) takes one allocation of the largest size and runs all sizes in it one after the other, each on the
first of its nodes: same machines, same hour, one wait in the queue. `dtctl sweep --dry-run` prints its node-hours and those of separate jobs.

```yaml
resources: { scheduler: slurm, ranks_per_node: 8 }
study: { mode: strong, nodes: [1, 2, 4, 8], repeats: 3, layout: ladder, controls: 3 }
```

`controls` repeat the smallest size of the first point from the ladder's first place to its last. They are the same work on the same
nodes, so what sets them apart is the machine's drift; `dtctl results` shows it and leaves them out of the points.

## Machine profiles

What belongs to the machine stands in `$XDG_CONFIG_HOME/dtctl/config.yaml` or in the project's `dtctl.yaml`, whose keys are
stronger, so that a recipe moves between machines unchanged:

```yaml
profiles:
  default: { resources: { threads_per_rank: 4 } }
  cluster:
    extends: default
    resources:
      scheduler: slurm
      partition: batch
      account: physics
      modules: [openmpi/4.1]
      launcher: mpirun                       # what works there: dtctl doctor --launchers --profile cluster
      launcher_args: [--mca, btl_tcp_if_include, ib0]
      env: { OMP_WAIT_POLICY: active }
```

`dtctl config show` prints the profiles and where each value stands. A profile is chosen by `--profile`, else by the recipe's `profile`, else it is `default`, where there is one.
)";

std::string structure_text(std::string_view path)
{
  if (path == "version") return "1";
  if (path == "extends") return "file";
  if (path == "profile") return "profile's name";
  if (path == "label") return "text with keys in braces";
  if (path == "sweep.matrix" || path == "sweep.zip") return "map of keys to lists";
  return path == "sweep.include" ? "list of maps" : "list of conditions";
}

// The values that a key accepts.
std::string allowed_text(const Key& key)
{
  switch (key.type) {
  case KeyType::integer:
  case KeyType::real:
    return std::string(name_of(key.type)) + ", " + number_text(key.min) + " to " + number_text(key.max);
  case KeyType::integer_list:
    return std::string(name_of(key.type)) + ", each " + number_text(key.min) + " to " + number_text(key.max);
  case KeyType::duration:
    return "duration with its unit, " + format_duration(key.min) + " or more";
  case KeyType::rate:
    return "rate, such as `10 Gbit/s` or `1.25 GB/s`";
  case KeyType::moment:
    return "time, such as `50us` or `1.5ms`";
  case KeyType::structure:
    return structure_text(key.path);
  default:
    return std::string(name_of(key.type));
  }
}

std::string default_cell(const Key& key)
{
  if (key.required) return "required";
  return has_default(key) ? "`" + default_text(key) + "`" : "";
}

// Escapes a text for a cell of a Markdown table.
std::string in_table(std::string_view text)
{
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    if (c == '<')
      cell += "&lt;";
    else
      cell += c;
  }
  return cell;
}

std::string row(const Key& key)
{
  const auto name = key.path.substr(key.path.find('.') + 1);
  const auto identity = key.identity ? "yes" : "";
  return "| `" + std::string(name) + "` | " + allowed_text(key) + " | " + std::string(key.unit) + " | " + default_cell(key) +
         " | " + identity + " | " + in_table(key.help) + " |\n";
}

std::string choices(const Key& key)
{
  std::string text = "\n`" + std::string(key.path) + "` is one of\n\n";
  for (const auto& name : key.choices) text += "- `" + std::string(name.name) + "`: " + std::string(name.help) + "\n";
  return text;
}

constexpr std::string_view layers_introduction = R"(
### Layers

`model.layers` describes a network of its own, from the images to one output a class:

```yaml
model:
  layers:
    - convolution: { channels: 32, kernel: 3, padding: 1, bias: false }
    - batch_norm: { name: stem }
    - relu
    - convolution: { channels: 32, kernel: 3, padding: 1, name: branch }
    - add: { inputs: [branch, stem] }
    - max_pooling: { kernel: 2, stride: 2 }
    - global_average_pooling
    - inner_product: { outputs: classes }
```

A layer takes the output of the one before, or of the one that `input` names; `add` and `concat` take those that `inputs` names,
and `images` is what goes in. A layer without a name is called by its kind and its place (`relu3`). Shapes are checked before
anything is submitted. `dtctl recipe models --layers` prints this table.

| layer | attribute | value | default | meaning |
|---|---|---|---|---|
)";

std::string layers_table()
{
  std::string text(layers_introduction);
  for (const auto& kind : layer_kinds()) {
    text += "| `" + std::string(kind.name) + "` | | | | " + std::string(kind.help) + " |\n";
    for (const auto& attribute : kind.attributes) {
      const auto fallback = attribute.default_text.empty() ? "" : "`" + std::string(attribute.default_text) + "`";
      text += "| | `" + std::string(attribute.name) + "` | " + allowed_text(attribute) + " | " +
              (attribute.required ? "required" : fallback) + " | " + std::string(attribute.help) + " |\n";
    }
  }
  return text;
}

std::string block(const std::string& name)
{
  std::string text = name.empty() ? "## Top level\n\n" : "## `" + name + "`\n\n";
  text += "| key | value | unit | default | new run | meaning |\n|---|---|---|---|---|---|\n";
  std::string lists;
  for (const auto& key : spec_keys()) {
    const auto dot = key.path.find('.');
    if ((dot == key.path.npos ? "" : std::string(key.path.substr(0, dot))) != name) continue;
    text += row(key);
    if (!key.choices.empty()) lists += choices(key);
  }
  return text + lists + (name == "model" ? layers_table() : "") + "\n";
}

} // namespace

std::string reference_markdown()
{
  std::string text(introduction);
  text += "A change of a key marked \"new run\" makes a new run. The other keys (names, limits, accounts) do not.\n\n";
  std::string last = "none";
  for (const auto& key : spec_keys()) {
    const auto dot = key.path.find('.');
    const std::string name(dot == key.path.npos ? "" : key.path.substr(0, dot));
    if (name != last) text += block(name);
    last = name;
  }
  return text.append(sweeps);
}

} // namespace dt::recipes
