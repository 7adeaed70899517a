// Field: one figure of a record, described once. Writing and reading its JSON, its SQL column, `dtctl show` and `dtctl db
// columns` all come from these rows (core/record/fields.cpp): to record another figure, measure it and add a row.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace dt {

// The value of a figure that was not measured; null in JSON, NULL in the database. Only for figures that cannot be NaN when they
// are measured: times, rates, counts.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// A figure that a training computes and that may be NaN or infinite: a loss, an accuracy, a learning rate. Empty: not reported.
using Reported = std::optional<double>;

inline bool is_finite(const Reported& figure) { return figure && std::isfinite(*figure); }
// Whether it was reported and is NaN or infinite.
inline bool is_not_finite(const Reported& figure) { return figure && !std::isfinite(*figure); }
// Where NaN may stand for both: in charts and statistics, which leave both out.
inline double or_not_measured(const Reported& figure) { return figure.value_or(not_measured); }

inline Reported if_measured(double figure) { return std::isnan(figure) ? Reported() : figure; }

// How records write a value that is no finite number: "NaN", "inf" or "-inf".
inline std::string_view word_of(double not_finite)
{
  if (std::isnan(not_finite)) return "NaN";
  return not_finite > 0 ? "inf" : "-inf";
}

using TextMap = std::map<std::string, std::string>;

// The value of a count that was not measured; null in JSON, NULL in the database. dtengine counts everything; a program of the
// user may not report a count.
inline constexpr std::int64_t not_counted = std::numeric_limits<std::int64_t>::min();

// A field's value, detached from its record.
using FieldCell = std::variant<bool, int, std::int64_t, double, Reported, std::string, std::vector<std::string>, TextMap>;

enum class Presence {
  required, // a record without it is damaged
  later,    // records of an earlier version lack it: then it has its default
  computed, // from the record's other fields when it is stored in the database; not in the JSON
  energy,   // measured by dtjob beside the program: in energy.json, not in the record's own file
};

// Whether fields of this presence are asked for with those of another: records hold the later ones, too.
inline bool is_with(Presence presence, Presence asked)
{
  return presence == asked || (presence == Presence::later && asked == Presence::required);
}

template<class Record> struct Field {
  // A function that returns a reference to the member. For Presence::computed: a function that computes the value.
  using Place = std::variant<bool& (*)(Record&), int& (*)(Record&), std::int64_t& (*)(Record&), double& (*)(Record&),
                             Reported& (*)(Record&), std::string& (*)(Record&), std::vector<std::string>& (*)(Record&),
                             TextMap& (*)(Record&), std::int64_t (*)(const Record&), double (*)(const Record&)>;

  std::string_view name; // of the JSON member: "throughput", or "staleness.mean" for a member of an object
  Place place;
  std::string_view unit; // "s", "samples/s"; empty when it has none
  std::string_view help; // the definition, as `dtctl db columns` prints it
  Presence presence = Presence::required;
  std::string_view column_name{}; // where it differs from `name` with '_' in place of '.'
  bool zero_is_nothing = false;   // `dtctl show` leaves the figure out when it is 0

  std::string column() const
  {
    std::string column(column_name.empty() ? name : column_name);
    for (char& c : column)
      if (c == '.') c = '_';
    return column;
  }
};

template<class Record> using Fields = std::span<const Field<Record>>;

// A member of the record, or a member of a member: &member<&RunResult::staleness, &Staleness::mean>.
template<class Record, auto First, auto... Rest> auto& member_of(Record& record)
{
  if constexpr (sizeof...(Rest) == 0)
    return record.*First;
  else
    return member_of<std::remove_reference_t<decltype(record.*First)>, Rest...>(record.*First);
}

template<class Record> FieldCell value_of(const Field<Record>& field, const Record& record)
{
  return std::visit(
      [&](auto place) -> FieldCell {
        if constexpr (std::is_invocable_v<decltype(place), const Record&>)
          return place(record);
        else
          return place(const_cast<Record&>(record)); // it only returns a reference
      },
      field.place);
}

} // namespace dt
