// Records as JSON, by their fields. Private to core/record.
#pragma once

#include "core/files/file.hpp"
#include "core/json_schema.hpp"
#include "core/record/field.hpp"

#include <cmath>
#include <filesystem>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

namespace dt::record {

using Json = nlohmann::ordered_json;

// The `schema` member of every record. Raised when a reader of the version before would misunderstand the record.
inline constexpr int schema = 1;

// Texts may hold any bytes that a user or a program wrote; invalid UTF-8 is replaced.
inline std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

inline bool is_ours(const Json& json)
{
  return json.is_object() && json.contains("schema") && json["schema"].is_number_integer() && json["schema"] == schema;
}

// What is wrong with a file of the home that parse_with has refused: "… was written by a later dtctl …", or "… is damaged …".
inline std::string refusal_of(const std::filesystem::path& file, std::string_view text)
{
  if (const auto later = words_of_later_schema(Json::parse(text, nullptr, false), schema); !later.empty())
    return file.string() + " " + later;
  return file.string() + " is damaged or of another format";
}

// NaN and infinities are null.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json count(std::int64_t value) { return value == not_counted ? Json(nullptr) : Json(value); }
inline double number_of(const Json& json) { return json.is_null() ? not_measured : json.get<double>(); }

// null: not reported; "NaN", "inf" and "-inf" are values, which JSON has no numbers for.
inline Json json_of(const Reported& figure)
{
  return is_not_finite(figure) ? Json(word_of(*figure)) : number(or_not_measured(figure));
}
inline Reported reported_of(const Json& json)
{
  if (json.is_null()) return std::nullopt;
  if (!json.is_string()) return json.get<double>();
  for (const double value : {not_measured, HUGE_VAL, -HUGE_VAL})
    if (json.get<std::string>() == word_of(value)) return value;
  return json.get<double>(); // throws: it is no number
}

// "staleness.mean" -> /staleness/mean
inline Json::json_pointer pointer_to(std::string_view name)
{
  std::string path = "/";
  for (const char c : name) path += c == '.' ? '/' : c;
  return Json::json_pointer(path);
}

// A JSON object of those fields of the record that have this presence.
template<class Record>
Json json_of(const Record& record, std::span<const Field<Record>> fields, Presence presence = Presence::required)
{
  Json json = Json::object();
  for (const auto& field : fields) {
    if (!is_with(field.presence, presence)) continue;
    json[pointer_to(field.name)] = std::visit(
        [](const auto& value) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
            return number(value);
          else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Reported>)
            return json_of(value);
          else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::int64_t>)
            return count(value);
          else
            return value;
        },
        value_of(field, record));
  }
  return json;
}

// A Json::exception when a required field is missing or has another type.
template<class Record>
Record record_of(const Json& json, std::span<const Field<Record>> fields, Presence presence = Presence::required)
{
  Record record;
  for (const auto& field : fields) {
    const auto pointer = pointer_to(field.name);
    const bool is_lacking = field.presence == Presence::later && !json.contains(pointer);
    if (!is_with(field.presence, presence) || is_lacking) continue;
    std::visit(
        [&](auto place) {
          if constexpr (std::is_invocable_v<decltype(place), const Record&>) {
          } else {
            auto& value = place(record);
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
              value = number_of(json.at(pointer));
            else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Reported>)
              value = reported_of(json.at(pointer));
            else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::int64_t>)
              value = json.at(pointer).is_null() ? not_counted : json.at(pointer).template get<std::int64_t>();
            else
              value = json.at(pointer).template get<std::decay_t<decltype(value)>>();
          }
        },
        field.place);
  }
  return record;
}

// The whole record: its schema and its fields, then what `more` adds.
template<class Record>
std::string to_json(const Record& record, std::span<const Field<Record>> fields, const Json& more = Json::object())
{
  Json json{{"schema", schema}};
  json.update(json_of(record, fields));
  json.update(more);
  return dump(json);
}

// Converts the JSON of a record; nothing when the text is torn or of another format.
template<class Record, class Convert> std::optional<Record> parse_with(std::string_view text, Convert convert)
{
  const auto json = Json::parse(text, nullptr, false);
  if (!is_ours(json)) return std::nullopt;
  try {
    return convert(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

template<class Record> std::optional<Record> parse(std::string_view text, std::span<const Field<Record>> fields)
{
  return parse_with<Record>(text, [&](const Json& json) { return record_of(json, fields); });
}

// The record in a file, as `parse` finds it; nothing when the file is missing, torn or of another format.
template<class Parse> auto read(const std::filesystem::path& path, Parse parse) -> decltype(parse(std::string_view()))
{
  const auto text = read_file_if_exists(path);
  if (!text) return std::nullopt;
  return parse(*text);
}

} // namespace dt::record
