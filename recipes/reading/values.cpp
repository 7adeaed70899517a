#include "recipes/reading/values.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/odd_characters.hpp"
#include "core/program/pattern.hpp"
#include "core/program/program_words.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "recipes/reading/layers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace dt::recipes {
namespace {

// Reads values of one key. Every refusal is one diagnostic that begins with the key's path.
class ValueReader {
 public:
  ValueReader(const Key& key, Diagnostics& diagnostics) : key_(key), diagnostics_(diagnostics) {}

  std::optional<FieldValue> read(const Node& node) const
  {
    if (node.kind == Node::Kind::null) return refuse(node, " has no value; give one or remove the key");
    if (has_odd_character(node)) return std::nullopt;
    if (key_.path == "model.layers") return as_field(read_layers(node, diagnostics_));
    switch (key_.type) {
    case KeyType::integer:
      return as_field(integer(node));
    case KeyType::real:
      return as_field(real(node));
    case KeyType::boolean:
      return as_field(boolean(node));
    case KeyType::text:
      return as_field(text(node));
    case KeyType::choice:
      return as_field(choice(node));
    case KeyType::duration:
      return as_field(duration(node));
    case KeyType::rate:
      return as_field(quantity(node, parse_rate_bytes_per_s, "a rate such as `10 Gbit/s` or `1.25 GB/s`"));
    case KeyType::moment:
      return as_field(quantity(node, parse_short_time_s, "a time with its unit, such as `50us` or `1.5ms`"));
    case KeyType::integer_list:
      return as_field(list<std::int64_t>(node, &ValueReader::integer));
    case KeyType::text_list:
      return as_field(list<std::string>(node, &ValueReader::text));
    case KeyType::text_map:
      return as_field(text_map(node));
    case KeyType::structure:
      break;
    }
    return std::nullopt;
  }

 private:
  template<class T> static std::optional<FieldValue> as_field(std::optional<T> value)
  {
    if (!value) return std::nullopt;
    return std::optional<FieldValue>(std::in_place, std::in_place_type<T>, std::move(*value));
  }

  std::nullopt_t refuse(const Node& node, const std::string& what) const
  {
    diagnostics_.add(node.mark, "`" + std::string(key_.path) + "`" + what);
    return std::nullopt;
  }

  // Refuses a character that cannot be told from another one or cannot be seen. Texts may hold those that can be seen, because
  // they may be names of files, but an option of a command must begin with a real dash. Prose for people may hold all of them.
  bool has_odd_character(const Node& node) const
  {
    const bool is_prose = key_.path == "description" || key_.path == "label";
    if (is_prose || node.kind != Node::Kind::scalar) return false;
    const auto odd = find_odd_character(node.text);
    if (!odd) return false;
    const bool is_text = key_.type == KeyType::text || key_.type == KeyType::text_list || key_.type == KeyType::text_map;
    if (is_text && !odd->is_invisible && !(odd->looks_like_dash && odd->offset == 0)) return false;
    diagnostics_.add(place_in(node, odd->offset), "`" + std::string(key_.path) + "` contains " + odd->words + "; type it again");
    return true;
  }

  // The place of a byte of a scalar that is written in one line.
  static Mark place_in(const Node& node, std::size_t offset)
  {
    auto mark = node.mark;
    if (mark.line > 0) mark.column += static_cast<int>(display_width(node.text.substr(0, offset))) + (node.quoted ? 1 : 0);
    return mark;
  }

  std::nullopt_t refuse_type(const Node& node, const std::string& wanted) const
  {
    return refuse(node, " must be " + wanted + ", not " + describe(node));
  }

  // The characters of a number without a leading plus. Refuses nodes that are not unquoted scalars.
  std::optional<std::string_view> number_characters(const Node& node, const std::string& wanted) const
  {
    if (node.kind != Node::Kind::scalar) return refuse_type(node, wanted);
    if (node.quoted) return refuse(node, " must be " + wanted + ", not " + describe(node) + "; remove the quotes");
    std::string_view text = node.text;
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    return text;
  }

  bool in_range(const Node& node, double value) const
  {
    if (value >= key_.min && value <= key_.max) return true;
    refuse(node, " is " + printable(node.text) + "; allowed: " + range_text(key_));
    return false;
  }

  std::optional<std::int64_t> integer(const Node& node) const
  {
    const auto text = number_characters(node, "a whole number");
    if (!text) return std::nullopt;
    const bool leading_zero = text->size() > 1 && text->front() == '0' && text->find_first_not_of("0123456789") == text->npos;
    if (leading_zero)
      return refuse(node, " is " + ticked(*text) + ", which some YAML readers interpret as octal; remove the leading zeros");
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (const auto decimal = whole_of_decimal(*text); end != text->data() + text->size() && decimal)
      value = *decimal, end = text->data() + text->size();
    const bool whole = end == text->data() + text->size() && !text->empty();
    if (error == std::errc::result_out_of_range && whole)
      return refuse(node, " is " + ticked(node.text) + "; allowed: " + range_text(key_));
    if (error != std::errc() || !whole) return refuse_type(node, "a whole number");
    if (!in_range(node, static_cast<double>(value))) return std::nullopt;
    return value;
  }

  std::optional<double> real(const Node& node) const
  {
    const auto text = number_characters(node, "a number");
    if (!text) return std::nullopt;
    if (is_not_finite(*text)) return refuse(node, " must be a finite number, not " + describe(node));
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    const auto unit = trim(std::string_view(end, text->data() + text->size()));
    const bool is_percent = unit == "%" && key_.unit == "share";
    const bool has_known_unit = unit.empty() || is_percent || (takes_unit(key_) && unit == key_.unit);
    if (!has_known_unit || text->empty() || error == std::errc::invalid_argument) return refuse_type(node, "a number");
    if (is_percent) value /= 100;
    if (error != std::errc())
      return refuse(node, " is " + ticked(node.text) + ", which does not fit a double; allowed: " + range_text(key_));
    if (!in_range(node, value)) return std::nullopt;
    return value;
  }

  // Whether the text is YAML's .nan or .inf, or nan, inf or infinity, with or without a minus sign.
  static bool is_not_finite(std::string_view text)
  {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with('.')) text.remove_prefix(1);
    const auto lower = lower_case(text.substr(0, 16));
    return lower == "nan" || lower == "inf" || lower == "infinity";
  }

  std::optional<bool> boolean(const Node& node) const
  {
    if (node.kind != Node::Kind::scalar) return refuse_type(node, "true or false");
    if (node.quoted) return refuse(node, " must be true or false, not " + describe(node) + "; remove the quotes");
    if (node.text == "true" || node.text == "True" || node.text == "TRUE") return true;
    if (node.text == "false" || node.text == "False" || node.text == "FALSE") return false;
    static constexpr std::array yes{"yes", "Yes", "YES", "on", "On", "ON", "y", "Y", "1"};
    static constexpr std::array no{"no", "No", "NO", "off", "Off", "OFF", "n", "N", "0"};
    const auto is = [&](const char* word) { return node.text == word; };
    if (std::any_of(yes.begin(), yes.end(), is))
      return refuse(node, " must be true or false, not " + describe(node) + "; write true");
    if (std::any_of(no.begin(), no.end(), is))
      return refuse(node, " must be true or false, not " + describe(node) + "; write false");
    return refuse_type(node, "true or false");
  }

  std::optional<std::string> text(const Node& node) const
  {
    if (node.kind == Node::Kind::null) return refuse(node, " has a text without value; write \"\" for an empty one");
    if (node.kind != Node::Kind::scalar) return refuse_type(node, "a text");
    if (has_odd_character(node)) return std::nullopt;
    if (node.text.find('\0') != std::string::npos)
      return refuse(node, " contains a NUL character, which cannot be passed to a program");
    if (is_one_line(key_) && printable(node.text) != node.text)
      return refuse(node, " must be one line without control characters, not " + describe(node));
    if (key_.path == "description" && printable_lines(node.text) != node.text)
      return refuse(node, " must be a text without control characters, not " + describe(node));
    return node.text;
  }

  std::optional<std::string> choice(const Node& node) const
  {
    const auto names = strings_of(key_.choices);
    if (node.kind != Node::Kind::scalar) return refuse_type(node, "one of " + join(names, ", "));
    if (!contains(key_.choices, node.text)) return refuse(node, " is " + ticked(node.text) + advice(node.text, names));
    return node.text;
  }

  std::optional<std::int64_t> duration(const Node& node) const
  {
    if (node.kind != Node::Kind::scalar) return refuse_type(node, "a duration such as 90m, 1h30m or 01:30:00");
    const auto seconds = parse_duration_s(node.text);
    if (!seconds) return refuse(node, " " + duration_refusal(node.text.substr(0, 80)));
    if (!in_range(node, static_cast<double>(*seconds))) return std::nullopt;
    return seconds;
  }

  std::optional<double> quantity(const Node& node, std::optional<double> (*parse)(std::string_view),
                                 const std::string& wanted) const
  {
    if (node.kind != Node::Kind::scalar) return refuse_type(node, wanted);
    const auto value = parse(node.text);
    if (!value) return refuse_type(node, wanted);
    if (!in_range(node, *value)) return std::nullopt;
    return value;
  }

  template<class T>
  std::optional<std::vector<T>> list(const Node& node, std::optional<T> (ValueReader::*element)(const Node&) const) const
  {
    if (node.kind == Node::Kind::scalar)
      return refuse(node, " must be a list; write [" + as_elements(node.text.substr(0, 80)) + "]");
    if (node.kind != Node::Kind::list) return refuse_type(node, "a list");
    std::vector<T> values;
    bool good = true;
    for (const auto& item : node.items) {
      auto value = (this->*element)(item);
      if (value)
        values.push_back(std::move(*value));
      else
        good = false;
    }
    if (!good) return std::nullopt;
    return values;
  }

  // The words of a command are elements of a list.
  std::string as_elements(const std::string& text) const
  {
    const bool is_command = key_.path == "program.command" || key_.path == "resources.wrapper";
    return printable(is_command ? join(split(trim(text), ' '), ", ") : text);
  }

  // Whether the key's map may have this entry.
  bool may_contain(const Entry& entry) const
  {
    const auto refuse_entry = [&](const std::string& what) {
      diagnostics_.add(entry.mark, "`" + std::string(key_.path) + "` " + what);
      return false;
    };
    if (key_.path == "program.metrics" && !contains(program_metric_names(), entry.key))
      return refuse_entry("names the unknown figure " + ticked(entry.key) +
                          advice(entry.key, strings_of(program_metric_names())));
    const auto is_inner = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool is_name = !entry.key.empty() && std::all_of(entry.key.begin(), entry.key.end(), is_inner);
    if (key_.path == "program.parameters" && !is_name)
      return refuse_entry("has the name " + ticked(entry.key) + "; allowed: letters, digits and _");
    return key_.path != "program.metrics" || is_expression(entry);
  }

  bool is_expression(const Entry& entry) const
  {
    try {
      if (entry.value.kind != Node::Kind::scalar) return true;
      const Pattern pattern(entry.value.text);
      if (pattern.has_group() || entry.key == "result") return true; // of a result the line alone counts
      diagnostics_.add(entry.value.mark,
                       "`program.metrics." + entry.key + "` has no group: put the number in parentheses, as in `loss (\\S+)`");
      return false;
    } catch (const Error& error) {
      diagnostics_.add(entry.value.mark, "`program.metrics." + entry.key + "` is no regular expression: " + error.what());
      return false;
    }
  }

  std::optional<std::map<std::string, std::string>> text_map(const Node& node) const
  {
    if (node.kind != Node::Kind::map) return refuse_type(node, "a map of names to texts");
    std::map<std::string, std::string> values;
    bool good = true;
    for (const auto& entry : node.entries) {
      auto value = may_contain(entry) ? text(entry.value) : std::nullopt;
      if (value)
        values.emplace(entry.key, std::move(*value));
      else
        good = false;
    }
    if (!good) return std::nullopt;
    return values;
  }

  const Key& key_;
  Diagnostics& diagnostics_;
};

} // namespace

std::string number_text(double value)
{
  constexpr double exact = 1e15;
  if (value == std::floor(value) && std::abs(value) <= exact) return std::to_string(static_cast<std::int64_t>(value));
  return format_shortest(value);
}

std::string range_text(const Key& key)
{
  return number_text(key.min) + " to " + number_text(key.max) + (key.unit.empty() ? "" : " " + std::string(key.unit));
}

std::string default_text(const Key& key)
{
  const auto value = default_of(key);
  if (key.type == KeyType::duration) return format_duration(static_cast<double>(std::get<std::int64_t>(value)));
  if (key.type == KeyType::moment) return format_shortest(1e6 * std::get<double>(value)) + "us";
  return dt::to_text(value);
}

bool takes_unit(const Key& key) { return key.unit == "share" || key.unit == "node-hours"; }

bool is_one_line(const Key& key)
{
  return key.path != "description" && key.path != "program.command" && key.path != "resources.setup" &&
         key.path != "resources.setup_before" && key.path != "resources.env";
}

std::optional<FieldValue> read_value(const Key& key, const Node& node, Diagnostics& diagnostics)
{
  return ValueReader(key, diagnostics).read(node);
}

} // namespace dt::recipes
