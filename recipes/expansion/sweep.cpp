#include "recipes/expansion/sweep.hpp"

#include "core/number.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "recipes/reading/document.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

// Ranges in the lists of a sweep: one item that stands for several numbers.
//
//   range = from ".." to [ SP ( "log" | "linear" ) SP count ]     "0.001..1 log 4" -> 0.001, 0.01, 0.1, 1
//
// Both ends are included. log: equal ratios; linear: equal differences. Without them, each whole number from one end to the
// other.

constexpr double most_numbers = 10000;
constexpr double largest_end = 1e15; // whole numbers up to here are exact

std::optional<double> number_in(std::string_view text)
{
  const auto value = number_of<double>(text);
  return value && std::abs(*value) <= largest_end ? value : std::nullopt;
}

struct Range {
  double from = 0, to = 0, count = 0;
  bool is_log = false, is_whole = false; // is_whole: each whole number
  double at(double i) const
  {
    if (i == 0 || i == count - 1) return i == 0 ? from : to; // exact ends
    const double share = i / (count - 1);
    return is_log ? from * std::pow(to / from, share) : from + share * (to - from);
  }
};

// Nothing if the text has not the form of a range.
std::optional<Range> parse(std::string_view text)
{
  const auto words = split(text, ' ');
  const auto& ends = words.front();
  const auto dots = ends.find("..");
  if (dots == ends.npos || (words.size() != 1 && words.size() != 3)) return std::nullopt;
  const auto from = number_in(std::string_view(ends).substr(0, dots)), to = number_in(std::string_view(ends).substr(dots + 2));
  if (!from || !to) return std::nullopt;
  if (words.size() == 1) return Range{*from, *to, std::abs(*to - *from) + 1, false, true};
  const auto count = number_in(words[2]);
  if (!count || (words[1] != "log" && words[1] != "linear")) return std::nullopt;
  return Range{*from, *to, *count, words[1] == "log", false};
}

// What is wrong with a range of the right form; empty if nothing is.
std::string mistake_in(const Key& key, const Range& range)
{
  if (range.is_whole &&
      (key.type != KeyType::integer || std::floor(range.from) != range.from || std::floor(range.to) != range.to))
    return "needs the number of its values, such as `0.001..1 log 4` or `0..1 linear 5`";
  if (range.from == range.to) return "begins and ends with the same number";
  if (range.count < 2 || range.count > most_numbers || std::floor(range.count) != range.count)
    return fmt::format("must have 2 to {:.0f} values", most_numbers);
  if (range.is_log && (range.from <= 0 || range.to <= 0)) return "has equal ratios (log), so both ends must be above 0";
  return {};
}

std::string text_of(const Key& key, double value)
{
  if (key.type == KeyType::integer) return std::to_string(std::llround(value));
  return format_shortest(*number_in(fmt::format("{:.6g}", value)));
}

// Whether the item is a range: an unquoted text with "..", for a key that takes one number.
bool is_range(const Key& key, const Node& item)
{
  const bool is_number = key.type == KeyType::integer || key.type == KeyType::real;
  return is_number && item.kind == Node::Kind::scalar && !item.quoted && item.text.find("..") != item.text.npos;
}

// The numbers of a range as nodes with its mark. Numbers that are not whole have six significant digits. Empty, after a
// diagnostic, if it is no range.
std::vector<Node> numbers_of_range(const Key& key, const Node& item, Diagnostics& diagnostics)
{
  const auto range = parse(trim(item.text));
  const auto mistake = range
                           ? mistake_in(key, *range)
                           : "is no range; write `from..to log count`, `from..to linear count`, or `from..to` for whole numbers";
  if (!mistake.empty()) {
    diagnostics.add(item.mark, ticked(item.text) + " " + mistake);
    return {};
  }
  std::vector<Node> numbers;
  for (double i = 0; i < range->count; ++i) {
    auto& number = numbers.emplace_back(item);
    number.text = text_of(key, range->at(i));
  }
  return numbers;
}

// "; write [4..1]" for a range or several values without brackets, if the key takes them; else empty.
std::string hint_of_brackets(const Key& key, const Node& values)
{
  constexpr std::string_view marks = "[]{}#:&*!|>'\"%@`";
  if (values.kind != Node::Kind::scalar || values.quoted || values.text.find_first_of(marks) != values.text.npos) return {};
  const bool is_number = key.type == KeyType::integer || key.type == KeyType::real;
  std::vector<std::string> items;
  bool has_range = false;
  for (const auto& item : split(values.text, ',')) {
    const auto text = std::string(trim(item));
    const auto range = is_number ? parse(text) : std::nullopt;
    const bool is_range = range && mistake_in(key, *range).empty();
    if (text.empty() || (is_number && !is_range && !number_in(text))) return {};
    has_range = has_range || is_range;
    items.push_back(text);
  }
  return has_range || items.size() > 1 ? "; write [" + join(items, ", ") + "]" : "";
}

// Explains why a key cannot vary in a sweep. Empty if it can.
std::string why_fixed(const Key& key)
{
  if (key.path == "model.layers") return " is a whole network and cannot vary in a sweep; write a recipe for each network";
  if (names_content(key) || key.identity) return "";
  if (key.path.starts_with("study.")) return " applies to the whole study and cannot vary in a sweep";
  return " is not part of a run's identity, so all points of a sweep over it would be the same run";
}

class SweepReader {
 public:
  SweepReader(Settings& settings, Diagnostics& diagnostics) : settings_(settings), diagnostics_(diagnostics) {}

  Sweep read(const RecipeFile& recipe, const std::vector<std::string>& over)
  {
    if (recipe.matrix) read_matrix(*recipe.matrix);
    for (const auto& option : over) read_over(option);
    if (recipe.zip) read_zip(*recipe.zip);
    check_factors();
    refuse_sized_sets();
    if (recipe.include) read_include(*recipe.include);
    if (recipe.exclude) read_exclude(*recipe.exclude);
    write_labels();
    sweep_.is_given = !sweep_.factors.empty() || !sweep_.include.empty();
    return std::move(sweep_);
  }

 private:
  // Marks the key as unreadable, so that no follow-up problems are reported.
  void give_up(std::string_view path)
  {
    if (const Key* key = find_key(path)) settings_.set_unreadable(*key);
  }

  // Returns the key of a path, or null and a diagnostic if it cannot vary.
  const Key* varying_key(std::string_view path, const Mark& mark)
  {
    const auto key = resolve_path(path, mark, diagnostics_);
    if (!key) return nullptr;
    const auto why = why_fixed(*key->key);
    if (!why.empty()) diagnostics_.add(mark, ticked(path) + why);
    return why.empty() ? key->key : nullptr;
  }

  // Reads one key with its values, one level per value.
  std::optional<Factor> read_axis(const std::string& path, const Mark& mark, const Node& values, const fs::path& folder)
  {
    if (varying_key(path, mark) == nullptr) return std::nullopt;
    Factor axis{{path}, {}, mark};
    if (has_values(path, values) && read_levels(values, folder, axis)) return axis;
    give_up(path);
    return std::nullopt;
  }

  bool has_values(const std::string& path, const Node& values)
  {
    if (values.kind != Node::Kind::list)
      diagnostics_.add(values.mark, ticked(path) + " needs a list of values here, not " + describe(values) +
                                        hint_of_brackets(*find_key(path), values));
    else if (values.items.empty())
      diagnostics_.add(values.mark, ticked(path) + " needs at least one value");
    return !values.items.empty();
  }

  // Returns false if any of the values could not be read.
  bool read_levels(const Node& values, const fs::path& folder, Factor& axis)
  {
    const auto key = resolve_path(axis.paths.front(), axis.mark, diagnostics_);
    bool is_whole = true;
    for (const auto& item : values.items) {
      const bool is_many = key && is_range(*key->key, item);
      const auto nodes = is_many ? numbers_of_range(*key->key, item, diagnostics_) : std::vector{item};
      is_whole = is_whole && !nodes.empty();
      for (const auto& node : nodes) {
        auto assignment = read_assignment(axis.paths.front(), axis.mark, node, folder, diagnostics_);
        is_whole = is_whole && assignment;
        if (assignment) axis.levels.push_back({{std::move(*assignment)}, {}});
      }
    }
    return is_whole;
  }

  void refuse_twice(const Factor& axis)
  {
    std::set<FieldValue> seen;
    for (const auto& level : axis.levels) {
      const auto& assignment = level.assignments.front();
      if (!seen.insert(assignment.value).second)
        diagnostics_.add(assignment.mark, ticked(assignment.path) + " has the value " + ticked(assignment.text) + " twice");
    }
  }

  bool is_map(const SweepPart& part, std::string_view name)
  {
    if (part.node.kind == Node::Kind::map) return true;
    if (part.node.kind != Node::Kind::null)
      diagnostics_.add(part.node.mark, ticked(name) + " must be a map of keys to lists of values, not " + describe(part.node));
    return false;
  }

  void read_matrix(const SweepPart& part)
  {
    if (!is_map(part, "sweep.matrix")) return;
    for (const auto& entry : part.node.entries) {
      auto axis = read_axis(entry.key, entry.mark, entry.value, part.folder);
      if (!axis) continue;
      refuse_twice(*axis);
      sweep_.factors.push_back(std::move(*axis));
    }
  }

  // Adds an axis, or replaces the axis of the matrix that varies the same key.
  void read_over(const std::string& option)
  {
    const auto parts = split_option("--over", option, diagnostics_);
    if (!parts) return;
    const Source source{std::make_shared<const std::string>("--over"), "[" + parts->value + "]", false};
    const auto values = parse_document(source, diagnostics_);
    if (!values) return give_up(parts->path);
    auto axis = read_axis(parts->path, source.whole(), *values, fs::current_path());
    if (!axis) return;
    if (!over_.insert(parts->path).second)
      return diagnostics_.add(source.whole(), ticked(parts->path) +
                                                  " is given twice; write all its values in one option: --over " + parts->path +
                                                  "=A,B");
    refuse_twice(*axis);
    const auto same = [&](const Factor& factor) { return factor.paths == axis->paths; };
    const auto replaced = std::find_if(sweep_.factors.begin(), sweep_.factors.end(), same);
    if (replaced == sweep_.factors.end())
      sweep_.factors.push_back(std::move(*axis));
    else
      *replaced = std::move(*axis);
  }

  void read_zip(const SweepPart& part)
  {
    if (!is_map(part, "sweep.zip")) return;
    Factor zip{{}, {}, part.node.mark};
    for (const auto& entry : part.node.entries) {
      auto axis = read_axis(entry.key, entry.mark, entry.value, part.folder);
      if (!axis) continue;
      if (zip.paths.empty()) zip.levels.resize(axis->levels.size());
      if (axis->levels.size() != zip.levels.size()) {
        diagnostics_.add(entry.mark, "`sweep.zip` needs lists of equal length: " + ticked(entry.key) + " has " +
                                         std::to_string(axis->levels.size()) + " values, " + ticked(zip.paths.front()) + " has " +
                                         std::to_string(zip.levels.size()));
        give_up(entry.key);
        continue;
      }
      zip.paths.push_back(entry.key);
      for (std::size_t i = 0; i < zip.levels.size(); ++i)
        zip.levels[i].assignments.push_back(std::move(axis->levels[i].assignments.front()));
    }
    if (!zip.paths.empty()) sweep_.factors.push_back(std::move(zip));
  }

  // Refuses keys that two factors vary, and keys that the study or --set determines.
  void check_factors()
  {
    std::set<std::string> seen;
    for (const auto& factor : sweep_.factors)
      for (const auto& path : factor.paths) {
        if (!seen.insert(path).second)
          diagnostics_.add(factor.mark, ticked(path) + " is varied by both " +
                                            (over_.contains(path) ? "--over" : "`sweep.matrix`") + " and `sweep.zip`");
        const Key* key = find_key(path);
        if (key == nullptr) continue; // an entry of resources.env
        const Key* other = alternative_of(*key);
        if (other != nullptr && seen.contains(std::string(other->path)))
          diagnostics_.add(factor.mark, ticked(path) + " and " + ticked(other->path) + " exclude each other; vary only one");
        refuse_decided(factor, *key);
      }
  }

  // The key of the study's sizes that determines this key, whatever a point says. Empty if there is none.
  std::string_view sizes_of(const Key& key) const
  {
    if (key.path == "resources.nodes" && settings_.find("study.nodes") != nullptr) return "study.nodes";
    if (key.path == "resources.ranks_per_node" && settings_.find("study.ranks") != nullptr) return "study.ranks";
    return {};
  }

  void refuse_sized(const Key& key, const Mark& mark)
  {
    if (const auto sizes = sizes_of(key); !sizes.empty())
      diagnostics_.add(mark, ticked(key.path) + " is set by " + ticked(sizes) + " and cannot vary in the sweep too");
  }

  void refuse_sized_sets()
  {
    for (const auto* path : {"resources.nodes", "resources.ranks_per_node"}) {
      const auto* given = settings_.find(path);
      const auto sizes = sizes_of(*find_key(path));
      if (given != nullptr && !sizes.empty() && *given->mark.file == "--set")
        diagnostics_.add(given->mark, ticked(path) + " has no effect, because " + ticked(sizes) +
                                          " sets it for each size; use --set " + std::string(sizes) + "=…");
    }
  }

  void refuse_decided(const Factor& factor, const Key& key)
  {
    refuse_sized(key, factor.mark);
    for (const Key* decided : {&key, alternative_of(key)})
      if (const auto* given = decided == nullptr ? nullptr : settings_.find(decided->path);
          given != nullptr && *given->mark.file == "--set")
        diagnostics_.add(given->mark, ticked(given->path) + " has no effect, because the sweep varies " + ticked(key.path) +
                                          "; use --over " + std::string(key.path) + "=…");
  }

  void read_include(const SweepPart& part)
  {
    if (part.node.kind != Node::Kind::list && part.node.kind != Node::Kind::null)
      diagnostics_.add(part.node.mark, "`sweep.include` must be a list of maps of keys to values, not " + describe(part.node));
    for (const auto& item : part.node.items) {
      if (item.kind != Node::Kind::map || item.entries.empty()) {
        diagnostics_.add(item.mark, "a point of `sweep.include` must be a map of keys to values, not " + describe(item));
        continue;
      }
      Level point;
      for (const auto& entry : item.entries) read_point_value(entry, part.folder, point);
      sweep_.include.push_back(std::move(point));
    }
  }

  void read_point_value(const Entry& entry, const fs::path& folder, Level& point)
  {
    const Key* key = varying_key(entry.key, entry.mark);
    if (key == nullptr) return;
    refuse_sized(*key, entry.mark);
    const Key* other = alternative_of(*key);
    const auto is_other = [&](const Assignment& given) { return given.key == other; };
    if (other != nullptr && std::any_of(point.assignments.begin(), point.assignments.end(), is_other))
      diagnostics_.add(entry.mark, ticked(key->path) + " and " + ticked(other->path) + " exclude each other; keep one");
    if (auto assignment = read_assignment(entry.key, entry.mark, entry.value, folder, diagnostics_))
      point.assignments.push_back(std::move(*assignment));
    else
      give_up(entry.key);
  }

  void read_exclude(const SweepPart& part)
  {
    if (part.node.kind != Node::Kind::list && part.node.kind != Node::Kind::null)
      diagnostics_.add(part.node.mark, "`sweep.exclude` must be a list of conditions, not " + describe(part.node));
    sweep_.exclude_mark = part.node.mark;
    for (const auto& item : part.node.items)
      if (auto condition = read_condition(item, part.folder, diagnostics_))
        sweep_.exclude.push_back({std::move(*condition), item.mark});
  }

  void write_labels()
  {
    std::set<std::string> paths;
    const auto each_level = [&](auto visit) {
      for (auto& factor : sweep_.factors)
        for (auto& level : factor.levels) visit(level);
      for (auto& level : sweep_.include) visit(level);
    };
    each_level([&](const Level& level) {
      for (const auto& assignment : level.assignments) paths.insert(assignment.path);
    });
    std::map<std::string, std::string> names;
    for (const auto& path : paths) names[path] = short_name(path, paths);
    each_level([&](Level& level) {
      for (const auto& assignment : level.assignments)
        level.label += (level.label.empty() ? "" : " ") + names.at(assignment.path) + "=" + value_text(assignment);
    });
  }

  // Shortens optimizer.learning_rate to "learning_rate" and model.name to "model", unless another path in the sweep has the same
  // short name.
  static std::string short_name(const std::string& path, const std::set<std::string>& paths)
  {
    const auto shorten = [](const std::string& full) {
      const auto parts = split(full, '.');
      return parts.size() == 2 && parts[1] == "name" ? parts[0] : parts.back();
    };
    const auto short_one = shorten(path);
    const auto alike =
        std::count_if(paths.begin(), paths.end(), [&](const std::string& other) { return shorten(other) == short_one; });
    return alike == 1 ? short_one : path;
  }

  static std::string value_text(const Assignment& assignment)
  {
    const auto* map = std::get_if<std::map<std::string, std::string>>(&assignment.value);
    const bool is_member = map != nullptr && assignment.path != assignment.key->path;
    if (assignment.path == "program.command" && assignment.text.empty()) return "dtengine";
    return is_member ? map->begin()->second : assignment.text;
  }

  Settings& settings_;
  Diagnostics& diagnostics_;
  Sweep sweep_;
  std::set<std::string> over_; // paths of the --over options
};

} // namespace

std::size_t Sweep::count_points(std::size_t most) const
{
  std::size_t count = factors.empty() && !include.empty() ? 0 : 1;
  for (const auto& factor : factors) {
    if (count > most / std::max<std::size_t>(1, factor.levels.size())) return most + 1;
    count *= factor.levels.size();
  }
  return std::min(count + include.size(), most + 1);
}

Sweep read_sweep(const RecipeFile& recipe, const std::vector<std::string>& over, Settings& settings, Diagnostics& diagnostics)
{
  return SweepReader(settings, diagnostics).read(recipe, over);
}

} // namespace dt::recipes
