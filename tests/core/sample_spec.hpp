// Values for tests that go through every key of the schema.
#pragma once

#include "core/spec/spec_schema.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace dt::test {

inline const std::string nasty = "$(touch /tmp/x); '\"\\ \n\t\x01 = : , é 漢 \xF0\x9F\x98\x80 /~1";

// A value that no key has by default, told apart by `number`. Not checked against ranges: below the reader nobody checks.
inline FieldValue another_value(const FieldValue& value, int number = 1)
{
  struct Change {
    int number;
    FieldValue operator()(std::int64_t v) const { return v + number; }
    FieldValue operator()(double v) const { return v + 0.1 * number; }
    FieldValue operator()(bool v) const { return !v; }
    FieldValue operator()(const std::string& v) const { return v + nasty + std::to_string(number); }
    FieldValue operator()(const std::vector<std::int64_t>&) const
    {
      return std::vector<std::int64_t>{number, 2, 1'000'000'000'000};
    }
    FieldValue operator()(const std::vector<std::string>&) const
    {
      return std::vector<std::string>{"", nasty, std::to_string(number)};
    }
    FieldValue operator()(const std::map<std::string, std::string>&) const
    {
      return std::map<std::string, std::string>{{"A", ""}, {nasty, nasty}, {"N", std::to_string(number)}};
    }
  };
  return std::visit(Change{number}, value);
}

// Like another_value, for this key: of a choice another of its words, or the same one where it has too few.
inline FieldValue another_value(const Key& key, const FieldValue& value, int number = 1)
{
  RunSpec spec;
  if (!std::holds_alternative<ChoiceField>(key.field(spec))) return another_value(value, number);
  const auto at = std::find_if(key.choices.begin(), key.choices.end(),
                               [&](const Name& choice) { return choice.name == std::get<std::string>(value); });
  const auto now = static_cast<std::size_t>(at - key.choices.begin()); // of no value, all of them
  return std::string(key.choices[(now + static_cast<std::size_t>(number)) % key.choices.size()].name);
}

} // namespace dt::test
