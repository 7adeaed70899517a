#include "recipes/checks/checks.hpp"

#include "core/spec/input_shape.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/units.hpp"
#include "recipes/reading/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dt::recipes {
namespace {

using Problems = std::vector<Problem>;

void check_required(const RunSpec& spec, Problems& problems)
{
  if (spec.name.empty()) problems.push_back({{"name"}, "`name` must not be empty"});
  if (spec.is_own_program()) return; // what the program needs is known to the program alone
  if (spec.model.name.empty() && !spec.train.compute_profile.empty()) return; // the network of a program of the user
  if (spec.model.name.empty())
    problems.push_back({{"model.name", "model.layers"}, "`model.name` is missing: say which network to train"});
  if (spec.model.name == "custom" && spec.model.layers.empty())
    problems.push_back({{"model.name", "model.layers"}, "`model.name` custom needs `model.layers`: the layers of the network"});
  if (!spec.model.layers.empty() && spec.model.name != "custom")
    problems.push_back(
        {{"model.name", "model.layers"},
         "`model.layers` describes a custom network, so `model.name` must be custom or absent, not " + ticked(spec.model.name)});
  if (spec.data.name.empty()) problems.push_back({{"data.name"}, "`data.name` is missing: say which data set to train on"});
}

// The local scheduler ignores partitions, but a run that must be on a node cannot be anywhere.
void check_place(const RunSpec& spec, Problems& problems)
{
  const auto& resources = spec.resources;
  const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  if (resources.nodelist.empty()) return;
  const auto node = ticked(resources.nodelist);
  const std::vector<std::string_view> keys{"resources.nodelist", "resources.hosts"};
  if (resources.nodes != 1)
    problems.push_back(
        {{"resources.nodelist", "resources.nodes"},
         "`resources.nodelist` is one node, but the run has " + std::to_string(resources.nodes) + " (`resources.nodes`)"});
  if (scheduler_row(resources.scheduler).uses_this_machine && !holds(resources.hosts, resources.nodelist))
    problems.push_back({keys, "`resources.nodelist` is " + node +
                                  ", which is not in `resources.hosts`; name one of them, or choose a cluster's scheduler"});
  if (holds(resources.exclude, resources.nodelist))
    problems.push_back({{"resources.nodelist", "resources.exclude"},
                        "`resources.exclude` has " + node + ", on which the run must take place (`resources.nodelist`)"});
}

void check_data(const RunSpec& spec, Problems& problems)
{
  const auto& data = spec.data;
  if (data.name != "packed") return;
  if (data.set.empty() && data.path.empty())
    problems.push_back(
        {{"data.name"}, "data set `packed` needs `data.set`, a name that `dtctl data list` shows, or `data.path`, a file"});
  if (!data.set.empty() && !data.path.empty())
    problems.push_back({{"data.set", "data.path"}, "give either `data.set` or `data.path`, not both"});
  if (data.set.find('/') != std::string::npos || data.set.starts_with('.'))
    problems.push_back({{"data.set"}, "`data.set` is the name of a set in the home; for a file elsewhere give `data.path`"});
}

// Whether the global batch is so large that the product of batch and ranks may overflow.
bool is_batch_too_large(const RunSpec& spec)
{
  constexpr double largest = 1e15;
  return static_cast<double>(spec.train.batch_per_rank) * static_cast<double>(spec.workers()) > largest;
}

// The two nearest multiples for a message: "98 and 105 are".
std::string near_multiples(std::int64_t batch, std::int64_t ranks)
{
  const auto below = batch / ranks * ranks;
  return below == 0 ? std::to_string(ranks) + " is" : std::to_string(below) + " and " + std::to_string(below + ranks) + " are";
}

void check_batch(const RunSpec& spec, Problems& problems)
{
  const auto& train = spec.train;
  if (train.batch_per_rank == 0 && train.global_batch == 0 && !spec.is_own_program())
    problems.push_back(
        {{"train.batch_per_rank", "train.global_batch"}, "give either `train.batch_per_rank` or `train.global_batch`"});
  const std::string trainers = spec.servers() > 0 ? " workers" : " ranks";
  if (train.global_batch % spec.workers() != 0)
    problems.push_back({{"train.global_batch", "study.ranks", "study.nodes", "resources.ranks_per_node", "resources.nodes"},
                        "`train.global_batch` " + std::to_string(train.global_batch) + " is not a multiple of " +
                            std::to_string(spec.workers()) + trainers + "; " +
                            near_multiples(train.global_batch, spec.workers())});
  if (is_batch_too_large(spec))
    problems.push_back({{"train.batch_per_rank", "resources.ranks_per_node", "resources.nodes"},
                        "`train.batch_per_rank` " + std::to_string(train.batch_per_rank) + " on " +
                            std::to_string(spec.workers()) + trainers + " is more than 1e15 samples a step"});
}

void check_accumulation(const RunSpec& spec, Problems& problems)
{
  const auto parts = spec.train.accumulation, batch = spec.effective_batch_per_rank();
  if (batch % parts != 0)
    problems.push_back({{"train.accumulation", "train.batch_per_rank", "train.global_batch", "study.ranks", "study.nodes"},
                        "`train.accumulation` " + std::to_string(parts) + " does not divide the " + std::to_string(batch) +
                            " samples of a rank's batch"});
}

void check_precision(const RunSpec& spec, Problems& problems)
{
  if (spec.engine == Engine::reference && spec.train.precision != Precision::fp32)
    problems.push_back({{"train.precision", "engine"},
                        "`engine: reference` computes in fp32 only, not in " + std::string(name_of(spec.train.precision))});
}

// The list itself is checked where the files are read that train.algorithms_from names.
void check_algorithms(const RunSpec& spec, Problems& problems)
{
  const auto& train = spec.train;
  const bool is_fixed = train.algorithms == AlgorithmChoice::fixed, has_file = !train.algorithms_from.empty(),
             has_list = !train.algorithm_list.empty();
  if (spec.is_own_program()) return;
  if (is_fixed && spec.engine == Engine::reference)
    problems.push_back(
        {{"train.algorithms", "engine"}, "`engine: reference` has one algorithm only, plain loops; remove `train.algorithms`"});
  if (is_fixed && !has_file && !has_list)
    problems.push_back({{"train.algorithms"},
                        "`train.algorithms` fixed needs the choices to repeat: give `train.algorithms_from`, the key of a run or "
                        "the path of an algorithms.json"});
  if (has_file && has_list)
    problems.push_back({{"train.algorithm_list", "train.algorithms_from"},
                        "`train.algorithms_from` and `train.algorithm_list` exclude each other; keep one"});
  for (const auto& [key, is_given] : {std::pair{"train.algorithms_from", has_file}, std::pair{"train.algorithm_list", has_list}})
    if (is_given && !is_fixed)
      problems.push_back({{key, "train.algorithms"},
                          ticked(key) + " has an effect only with `train.algorithms` fixed; set that, or remove the key"});
}

// Number of training samples if the recipe alone determines it.
std::optional<std::int64_t> known_samples(const DataSpec& data)
{
  if (data.train_samples > 0) return data.train_samples;
  if (data.name == "synthetic") return synthetic_train_samples;
  return std::nullopt;
}

// Number of steps if the recipe alone determines it. An incomplete last batch is left out.
std::optional<std::int64_t> known_steps(const RunSpec& spec)
{
  if (spec.train.steps > 0) return spec.train.steps;
  const auto samples = known_samples(spec.data);
  const auto batch = spec.effective_global_batch();
  if (!samples || batch == 0 || spec.train.epochs == 0) return std::nullopt;
  constexpr double most = 1e15;
  return static_cast<std::int64_t>(std::min(most, std::ceil(spec.train.epochs * static_cast<double>(*samples / batch))));
}

void check_length(const RunSpec& spec, Problems& problems)
{
  const auto& train = spec.train;
  if (train.epochs == 0 && train.steps == 0 && !spec.is_own_program())
    problems.push_back({{"train.epochs", "train.steps"}, "give either `train.epochs` or `train.steps`"});
  if (is_batch_too_large(spec)) return;
  const auto samples = spec.is_own_program() ? std::nullopt : known_samples(spec.data);
  if (samples && spec.effective_global_batch() > *samples) {
    problems.push_back({{"train.global_batch", "train.batch_per_rank", "data.train_samples"},
                        "one step of " + std::to_string(spec.effective_global_batch()) + " samples needs more than the " +
                            std::to_string(*samples) + " there are to train on"});
    return;
  }
  const auto steps = known_steps(spec);
  if (steps && train.warmup_steps >= *steps)
    problems.push_back({{"train.warmup_steps", "train.steps", "train.epochs"},
                        "`train.warmup_steps` " + std::to_string(train.warmup_steps) + " leaves none of the run's " +
                            std::to_string(*steps) + " steps to measure"});
}

void check_target(const RunSpec& spec, Problems& problems)
{
  if (spec.train.stop_at_target && spec.train.target_accuracy == 0)
    problems.push_back({{"train.stop_at_target"}, "`train.stop_at_target` needs a `train.target_accuracy` above 0"});
}

void check_image(const RunSpec& spec, Problems& problems)
{
  constexpr std::int64_t most_values = 100'000'000;
  const auto values = spec.data.channels * spec.data.height * spec.data.width; // cannot overflow: each factor is at most 65536
  if (values > most_values)
    problems.push_back({{"data.width", "data.height", "data.channels"},
                        "an image of " + std::to_string(spec.data.channels) + " x " + std::to_string(spec.data.height) + " x " +
                            std::to_string(spec.data.width) + " has more than " + std::to_string(most_values) + " values"});
}

bool is_variable_name(std::string_view name)
{
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_inner);
}

// Why Linux starts no program with this word: an argument, or NAME=VALUE of a variable. Empty if it does.
std::string objection_to_word(std::string_view word)
{
  constexpr std::size_t longest = 128 * 1024 - 1; // MAX_ARG_STRLEN, with the byte behind it
  if (word.find('\0') != word.npos) return "holds a byte of value 0, at which it would end";
  if (word.size() <= longest) return {};
  return fmt::format("has {} bytes; no program can be started with more than {}", word.size(), longest);
}

// Of a job's script, which is one of bash: it cannot set these.
bool is_variable_of_bash(std::string_view name)
{
  constexpr std::string_view fixed[]{"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"};
  return std::find(std::begin(fixed), std::end(fixed), name) != std::end(fixed);
}

void check_variables(const char* key, const std::map<std::string, std::string>& variables, Problems& problems)
{
  for (const auto& [name, value] : variables)
    if (const auto why = objection_to_word(name + "=" + value); !why.empty())
      problems.push_back({{key}, fmt::format("`{}`: the variable {} {}", key, ticked(name), why)});
}

void check_environment(const RunSpec& spec, Problems& problems)
{
  for (const auto& [name, value] : spec.resources.env)
    if (!is_variable_name(name))
      problems.push_back({{"resources.env"},
                          "`resources.env` names the variable " + ticked(name) +
                              "; allowed: letters, digits and _, not beginning with a digit"});
    else if (is_variable_of_bash(name))
      problems.push_back(
          {{"resources.env"},
           "`resources.env` names the variable " + ticked(name) + ", which bash sets itself; choose another name"});
  check_variables("resources.env", spec.resources.env, problems);
  check_variables("program.parameters", spec.program.parameters, problems);
  for (const auto& word : spec.program.command)
    if (const auto why = objection_to_word(word); !why.empty())
      problems.push_back({{"program.command"}, "`program.command`: a word of it " + why});
  for (const auto& name : spec.program.environment)
    if (!is_variable_name(name) || name.starts_with("DTCTL_"))
      problems.push_back({{"program.environment"},
                          "`program.environment` names the variable " + ticked(name) +
                              "; allowed: letters, digits and _, not beginning with a digit or with DTCTL_"});
}

void check_mode(const RunSpec& spec, Problems& problems)
{
  const bool is_strong = spec.study.mode == StudyMode::strong;
  if ((is_strong || spec.study.mode == StudyMode::partition) && spec.train.batch_per_rank > 0)
    problems.push_back({{"train.batch_per_rank", "study.mode"},
                        std::string(is_strong ? "in a strong-scaling" : "in a partition") +
                            " study the global batch stays constant; give `train.global_batch` instead of "
                            "`train.batch_per_rank`"});
  if (spec.study.mode == StudyMode::scaling && !spec.is_own_program())
    problems.push_back({{"study.mode"},
                        "`study.mode` scaling is for a program of your own, which chooses its batch itself; of dtengine it is "
                        "strong with `train.global_batch` and weak with `train.batch_per_rank`"});
  if (spec.study.mode == StudyMode::weak && spec.train.global_batch > 0)
    problems.push_back({{"train.global_batch", "study.mode"},
                        "in a weak-scaling study the batch per rank stays constant; give `train.batch_per_rank` instead of "
                        "`train.global_batch`"});
}

void check_sizes(std::string_view key, const std::vector<std::int64_t>& sizes, Problems& problems)
{
  auto sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    problems.push_back({{key},
                        "`" + std::string(key) + "` lists " + std::to_string(*twice) +
                            " twice; for several runs of a size use `study.repeats`"});
}

void check_signal(const RunSpec& spec, Problems& problems)
{
  const auto& resources = spec.resources;
  if (resources.signal_ahead_s > 0 && resources.signal_ahead_s >= resources.time_limit_s)
    problems.push_back({{"resources.signal_ahead", "resources.time_limit"},
                        "`resources.signal_ahead` " + format_duration(static_cast<double>(resources.signal_ahead_s)) +
                            " must be below `resources.time_limit` " +
                            format_duration(static_cast<double>(resources.time_limit_s))});
}

void check_scheduler(const RunSpec& spec, Problems& problems)
{
  if (spec.resources.when_idle_s > 0 && !scheduler_row(spec.resources.scheduler).uses_this_machine)
    problems.push_back({{"resources.when_idle", "resources.scheduler"},
                        "`resources.when_idle` makes runs wait in the queue of this machine, and the scheduler is " +
                            ticked(spec.resources.scheduler) + "; a cluster gives nodes to a job when they are free"});
  if (spec.study.layout == StudyLayout::ladder && !scheduler_row(spec.resources.scheduler).shares_allocations)
    problems.push_back(
        {{"study.layout", "resources.scheduler"},
         "`study.layout` ladder needs `resources.scheduler` slurm, because one machine needs no allocation; leave the "
         "layout out"});
}

void check_layout(const StudySpec& study, bool has_sizes, Problems& problems)
{
  if (study.layout != StudyLayout::ladder) return;
  if (!study.mode && !has_sizes)
    problems.push_back(
        {{"study.layout"},
         "a ladder is a scaling study in one allocation: give `study.mode` and either `study.ranks` or `study.nodes`"});
  if (study.controls == 1)
    problems.push_back({{"study.controls"}, "`study.controls` 1 shows no drift: give 2 or more, or 0 for none"});
}

// Keys that a sweep may vary, but that all runs in one allocation share.
constexpr std::array<std::string_view, 3> of_allocation{"resources.scheduler", "resources.partition", "resources.constraint"};

} // namespace

std::vector<Problem> find_problems_between(const std::vector<RunSpec>& runs)
{
  Problems problems;
  for (const auto path : of_allocation) {
    const auto& key = *find_key(path);
    const auto differs = [&](const RunSpec& run) {
      return run.study.layout == StudyLayout::ladder && value_of(run, key) != value_of(runs.front(), key);
    };
    if (std::any_of(runs.begin(), runs.end(), differs))
      problems.push_back(
          {{path},
           "the runs of a ladder share one allocation, so " + ticked(std::string(path)) + " must be the same in all of them"});
  }
  return problems;
}

std::vector<Problem> find_problems(const RunSpec& spec)
{
  Problems problems;
  check_required(spec, problems);
  check_place(spec, problems);
  check_data(spec, problems);
  find_sync_problems(spec, problems);
  find_platform_problems(spec, problems);
  find_program_problems(spec, problems);
  if (spec.workers() <= 0) return problems; // the following checks divide by the number of workers
  check_batch(spec, problems);
  check_accumulation(spec, problems);
  check_precision(spec, problems);
  check_algorithms(spec, problems);
  check_length(spec, problems);
  check_target(spec, problems);
  check_image(spec, problems);
  check_environment(spec, problems);
  check_mode(spec, problems);
  check_signal(spec, problems);
  check_scheduler(spec, problems);
  return problems;
}

std::vector<Problem> find_length_problems(const RunSpec& spec)
{
  Problems problems;
  if (spec.workers() > 0) check_length(spec, problems);
  return problems;
}

std::vector<Problem> find_study_problems(const StudySpec& study)
{
  Problems problems;
  const bool is_partition = study.mode == StudyMode::partition;
  const bool has_sizes = !study.ranks.empty() || !study.nodes.empty();
  if (is_partition && study.parts.empty())
    problems.push_back({{"study.mode"}, "a partition study needs `study.parts`, for example [1, 2, 4]"});
  if (!is_partition && !study.parts.empty())
    problems.push_back({{"study.parts", "study.mode"}, "`study.parts` needs `study.mode` partition"});
  if (is_partition && has_sizes)
    problems.push_back({{study.ranks.empty() ? "study.nodes" : "study.ranks", "study.mode"},
                        "the sizes of a partition study are `study.parts`; remove `study." +
                            std::string(study.ranks.empty() ? "nodes" : "ranks") + "`"});
  if (study.mode && !is_partition && !has_sizes)
    problems.push_back({{"study.ranks", "study.nodes", "study.mode"},
                        (study.mode == StudyMode::scaling ? "a scaling" : "a " + std::string(name_of(*study.mode)) + "-scaling") +
                            " study needs sizes: give either `study.ranks` or `study.nodes`"});
  if (!study.mode && has_sizes)
    problems.push_back({{study.ranks.empty() ? "study.nodes" : "study.ranks", "study.mode"},
                        "sizes need a `study.mode`; allowed: strong, weak, and scaling for a program of your own"});
  check_layout(study, has_sizes, problems);
  check_sizes("study.ranks", study.ranks, problems);
  check_sizes("study.nodes", study.nodes, problems);
  check_sizes("study.parts", study.parts, problems);
  return problems;
}

std::vector<std::string> notes_on_images(const std::vector<RunSpec>& runs)
{
  std::vector<std::string> notes;
  for (const auto& run : runs) {
    const auto* facts = run.is_own_program() ? nullptr : find_model_facts(run.model.name);
    const auto shape = input_shape_of(run.data);
    if (facts == nullptr || !shape) continue;
    const auto given = image_text(*shape), natural = image_text(facts->natural);
    if (given == natural) continue;
    auto note = run.model.name + " gets images of " + given + ", not of " + natural +
                " as in its paper: the number of its weights, its computation or both are not the paper's";
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

} // namespace dt::recipes
