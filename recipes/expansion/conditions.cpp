#include "recipes/expansion/conditions.hpp"

#include "recipes/reading/values.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <utility>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ranks_name = "ranks";

// The row that checks values compared with the run's ranks: like resources.ranks_per_node, but with a larger maximum.
const Key& ranks_row()
{
  static const Key row = [] {
    auto key = *find_key("resources.ranks_per_node");
    key.path = ranks_name;
    key.max = 1e15;
    return key;
  }();
  return row;
}

bool is_ordered(KeyType type) { return type == KeyType::integer || type == KeyType::real || type == KeyType::duration; }
bool is_comparable(KeyType type)
{
  return is_ordered(type) || type == KeyType::text || type == KeyType::choice || type == KeyType::boolean;
}

// Returns the key of a condition. Returns null, and adds a diagnostic, if there is no such key or if its values cannot be
// compared this way.
const Key* comparable_key(std::string_view path, Relation relation, const Mark& mark, Diagnostics& diagnostics)
{
  if (path == ranks_name) return &ranks_row();
  const auto known = resolve_path(path, mark, diagnostics);
  if (!known) return nullptr;
  const auto& key = *known->key;
  if (!is_comparable(key.type)) {
    diagnostics.add(mark, ticked(path) + " is a " + std::string(name_of(key.type)) + " and cannot be compared");
    return nullptr;
  }
  if (relation != Relation::equal && relation != Relation::unequal && !is_ordered(key.type)) {
    diagnostics.add(mark, ticked(path) + " is not a number, so it cannot be ordered; allowed: = and !=");
    return nullptr;
  }
  return &key;
}

std::optional<FieldValue> read_compared(const Key& key, const Mark& mark, const Node& value, const fs::path& folder,
                                        Diagnostics& diagnostics)
{
  if (&key == &ranks_row()) return read_value(key, value, diagnostics);
  auto assignment = read_assignment(key.path, mark, value, folder, diagnostics);
  return assignment ? std::optional(std::move(assignment->value)) : std::nullopt;
}

// Reads a comparison with one value, or with a list of alternative values.
std::optional<Comparison> read_comparison(std::string_view path, Relation relation, const Mark& mark, const Node& value,
                                          const fs::path& folder, Diagnostics& diagnostics)
{
  const Key* key = comparable_key(path, relation, mark, diagnostics);
  if (key == nullptr) return std::nullopt;
  const bool is_list = value.kind == Node::Kind::list;
  if (is_list && value.items.empty()) {
    diagnostics.add(value.mark, ticked(path) + " needs at least one value");
    return std::nullopt;
  }
  const std::span<const Node> nodes = is_list ? std::span(value.items) : std::span(&value, 1);
  Comparison comparison{key == &ranks_row() ? nullptr : key, relation, {}};
  for (const auto& node : nodes)
    if (auto one = read_compared(*key, mark, node, folder, diagnostics)) comparison.values.push_back(std::move(*one));
  return comparison.values.size() == nodes.size() ? std::optional(std::move(comparison)) : std::nullopt;
}

struct Operator {
  std::string_view text;
  Relation relation;
};
// An operator must come before its own prefix.
constexpr std::array operators{Operator{"==", Relation::equal},      Operator{"!=", Relation::unequal},
                               Operator{"<=", Relation::less_equal}, Operator{">=", Relation::greater_equal},
                               Operator{"=", Relation::equal},       Operator{"<", Relation::less},
                               Operator{">", Relation::greater}};

std::optional<Comparison> read_word(const std::string& word, const Mark& mark, const fs::path& folder, Diagnostics& diagnostics)
{
  const auto at = std::min(word.find_first_of("=!<>"), word.size());
  const auto rest = std::string_view(word).substr(at);
  const auto found =
      std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return rest.starts_with(o.text); });
  if (at == 0 || found == operators.end() || rest.size() == found->text.size()) {
    diagnostics.add(mark,
                    ticked(word) + " is not a condition; write key.path, one of = != < <= > >=, and a value, without blanks");
    return std::nullopt;
  }
  Node value;
  value.kind = Node::Kind::scalar;
  value.mark = mark;
  value.text = rest.substr(found->text.size());
  return read_comparison(std::string_view(word).substr(0, at), found->relation, mark, value, folder, diagnostics);
}

template<class T> bool compare(const T& one, Relation relation, const T& other)
{
  switch (relation) {
  case Relation::equal:
    return one == other;
  case Relation::unequal:
    return one != other;
  case Relation::less:
    return one < other;
  case Relation::less_equal:
    return one <= other;
  case Relation::greater:
    return one > other;
  case Relation::greater_equal:
    return one >= other;
  }
  return false;
}

bool holds_one(const Comparison& comparison, const RunSpec& spec)
{
  const FieldValue found = comparison.key == nullptr ? FieldValue(spec.ranks()) : value_of(spec, *comparison.key);
  return std::any_of(comparison.values.begin(), comparison.values.end(),
                     [&](const FieldValue& value) { return compare(found, comparison.relation, value); });
}

} // namespace

std::optional<Condition> read_condition(const Node& node, const fs::path& folder, Diagnostics& diagnostics)
{
  Condition condition;
  bool good = true;
  const auto add = [&](std::optional<Comparison> comparison) {
    good = good && comparison.has_value();
    if (comparison) condition.push_back(std::move(*comparison));
  };
  if (node.kind == Node::Kind::map)
    for (const auto& entry : node.entries)
      add(read_comparison(entry.key, Relation::equal, entry.mark, entry.value, folder, diagnostics));
  if (node.kind == Node::Kind::scalar) {
    std::istringstream words(node.text);
    for (std::string word; words >> word;) add(read_word(word, node.mark, folder, diagnostics));
  }
  if (good && condition.empty()) {
    diagnostics.add(node.mark,
                    "a condition must be a map of keys to values or a text like `resources.nodes>=4`, not " + describe(node));
    return std::nullopt;
  }
  return good ? std::optional(std::move(condition)) : std::nullopt;
}

bool holds(const Condition& condition, const RunSpec& spec)
{
  return std::all_of(condition.begin(), condition.end(),
                     [&](const Comparison& comparison) { return holds_one(comparison, spec); });
}

} // namespace dt::recipes
