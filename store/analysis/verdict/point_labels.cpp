#include "store/analysis/verdict/point_labels.hpp"

#include "core/spec/point_label.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace dt::store {
namespace {

using Values = std::map<std::string, std::string>; // by key

// A swept key with its values, one per label; empty: the label lacks the key.
struct Axis {
  std::string key;
  std::vector<std::string> values;
  bool is_of_words = true; // no value is a number or a truth value
  bool is_implied = false;
};

Values values_of(const std::string& label)
{
  Values values;
  for (auto& [key, value] : label_words(label)) values[key] = value;
  return values;
}

bool is_number(const std::string& value)
{
  constexpr auto digits = "0123456789";
  const auto begin = value.find_first_not_of("+-.");
  return begin <= 1 && value.find_first_of(digits) == begin && value.find_first_not_of("0123456789.+-eE") == std::string::npos;
}

// A number or a truth value, which says nothing without its key.
bool needs_key(const std::string& value) { return is_number(value) || value == "true" || value == "false"; }

bool varies(const Axis& axis)
{
  return std::any_of(axis.values.begin(), axis.values.end(), [&](const auto& value) { return value != axis.values.front(); });
}

// Whether the value of `one` determines that of `other` in all labels.
bool implies(const Axis& one, const Axis& other)
{
  std::map<std::string, std::string> known;
  for (std::size_t i = 0; i < one.values.size(); ++i)
    if (known.try_emplace(one.values[i], other.values[i]).first->second != other.values[i]) return false;
  return true;
}

std::vector<Axis> axes_of(const std::vector<std::string>& labels)
{
  std::vector<Axis> axes;
  for (const auto& label : labels)
    for (const auto& word : label_words(label))
      if (std::none_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.key == word.key; }))
        axes.push_back({word.key, {}});
  for (const auto& label : labels) {
    const auto values = values_of(label);
    for (auto& axis : axes) {
      axis.values.push_back(values.contains(axis.key) ? values.at(axis.key) : "");
      if (needs_key(axis.values.back())) axis.is_of_words = false;
    }
  }
  return axes;
}

// Marks the axes that follow from another one. Of two that follow from each other, the one of words stays, else the first.
void mark_implied(std::vector<Axis>& axes)
{
  std::vector<Axis*> order;
  for (auto& axis : axes) order.push_back(&axis);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->is_of_words && !b->is_of_words; });
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    (*at)->is_implied = std::any_of(order.begin(), order.end(), [&](const Axis* other) {
      return other != *at && !other->is_implied && implies(*other, **at);
    });
}

enum class Keys { where_needed, of_numbers, of_all }; // where needed: of numbers, but for a single one beside words

// The values of the axes in the label at `place`, words first.
std::string text_of(const std::vector<const Axis*>& axes, std::size_t place, Keys keys)
{
  const auto of_numbers =
      static_cast<std::size_t>(std::count_if(axes.begin(), axes.end(), [](auto* axis) { return !axis->is_of_words; }));
  const bool is_one_beside_words = of_numbers == 1 && axes.size() > 1;
  std::vector<std::string> words, numbers;
  for (const auto* axis : axes) {
    const auto& value = axis->values[place];
    if (value.empty()) continue;
    const bool is_plain = axis->is_of_words || (is_one_beside_words && keys == Keys::where_needed);
    const bool has_key = !axis->key.empty() && (keys == Keys::of_all || !is_plain);
    (axis->is_of_words ? words : numbers).push_back(has_key ? axis->key + " " + value : value);
  }
  words.insert(words.end(), numbers.begin(), numbers.end());
  return join(words, " · ");
}

// A label whose words no other has is shown by them alone: "sync-sgd" beside "diloco · fragments 1" and "diloco · fragments 2".
std::vector<std::string> texts_of(const std::vector<const Axis*>& axes, std::size_t labels, Keys keys)
{
  std::vector<const Axis*> of_words;
  std::ranges::copy_if(axes, std::back_inserter(of_words), &Axis::is_of_words);
  std::map<std::string, std::size_t> times; // by words
  for (std::size_t i = 0; i < labels; ++i) ++times[text_of(of_words, i, keys)];
  times.erase("");
  const bool any_alone = labels > 1 && std::ranges::any_of(times, [](const auto& one) { return one.second == 1; });
  if (any_alone && keys == Keys::where_needed) keys = Keys::of_numbers;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < labels; ++i) {
    const auto words = times.find(text_of(of_words, i, keys));
    texts.push_back(any_alone && words != times.end() && words->second == 1 ? words->first : text_of(axes, i, keys));
  }
  return texts;
}

bool are_distinct(const std::vector<std::string>& texts)
{
  return std::set<std::string>(texts.begin(), texts.end()).size() == texts.size();
}

// A label without any value is shown by what it lacks: "no platform".
std::vector<std::string> filled(std::vector<std::string> texts, const std::vector<const Axis*>& axes)
{
  const auto keyed = std::find_if(axes.begin(), axes.end(), [](const auto* axis) { return !axis->key.empty(); });
  if (keyed != axes.end()) std::replace(texts.begin(), texts.end(), std::string(), "no " + (*keyed)->key);
  return texts;
}

std::vector<std::string> shown_texts(const std::vector<std::string>& labels, std::vector<Axis>& axes)
{
  if (labels.size() > 1) std::erase_if(axes, [](const auto& axis) { return !varies(axis); });
  if (labels.size() > 1) mark_implied(axes);
  std::vector<const Axis*> all, own;
  for (const auto& axis : axes) {
    all.push_back(&axis);
    if (!axis.is_implied) own.push_back(&axis);
  }
  for (const auto keys : {Keys::where_needed, Keys::of_all})
    for (const auto* chosen : {&own, &all})
      if (auto texts = texts_of(*chosen, labels.size(), keys);
          are_distinct(texts) && std::find(texts.begin(), texts.end(), "") == texts.end())
        return texts;
  for (const auto keys : {Keys::where_needed, Keys::of_all})
    for (const auto* chosen : {&own, &all})
      if (auto texts = filled(texts_of(*chosen, labels.size(), keys), *chosen); are_distinct(texts)) return texts;
  return labels;
}

} // namespace

PointLabels::PointLabels(const std::vector<std::string>& labels, const std::map<std::string, std::string>& of_recipe)
{
  std::map<std::string, std::string> shown;
  std::vector<std::string> distinct;
  for (const auto& label : labels)
    if (shown.try_emplace(label).second) distinct.push_back(label);
  auto axes = axes_of(distinct);
  const auto texts = shown_texts(distinct, axes);
  for (std::size_t i = 0; i < distinct.size(); ++i) shown[distinct[i]] = texts[i];
  if (distinct.size() > 1)
    for (const auto& axis : axes) keys_.push_back({axis.key, axis.is_implied});
  for (const auto& [label, own] : of_recipe)
    if (const auto known = shown.find(label); known != shown.end()) {
      known->second = own;
      has_own_ = true;
    }
  shown_ = std::make_shared<const std::map<std::string, std::string>>(std::move(shown));
}

std::string PointLabels::shown(const std::string& label) const
{
  if (!shown_) return label;
  const auto known = shown_->find(label);
  return known == shown_->end() ? label : known->second;
}

std::string PointLabels::value(const std::string& label, const std::string& key) const
{
  const auto values = values_of(label);
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

} // namespace dt::store
