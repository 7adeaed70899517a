#include "core/record/event_record.hpp"

#include "core/record/fields.hpp"
#include "core/record/parse.hpp"

#include <cmath>
#include <type_traits>

namespace dt {
namespace {

using namespace record;

void put_figure(std::string& text, double value, bool is_time)
{
  if (std::isnan(value)) return put_word(text, not_reported); // a time cannot be NaN
  is_time ? put_seconds(text, value) : put(text, value);
}

void put_figure(std::string& text, const Reported& value)
{
  if (is_not_finite(value)) return put_word(text, word_of(*value));
  put_figure(text, or_not_measured(value), false);
}

void put_count(std::string& text, std::int64_t value) { value == not_counted ? put_word(text, not_reported) : put(text, value); }

// A line of events.log: its tag, then the figures in the order of their fields.
template<class Record> void append_event(std::string& text, std::string_view tag, const Record& event, Fields<Record> fields)
{
  text += tag;
  for (const auto& field : fields)
    std::visit(
        [&](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, double>) {
            if (field.presence == Presence::later && std::isnan(value))
              return; // the line is as it was before there was this figure
            put_figure(text, value, field.unit == "s");
          } else if constexpr (std::is_same_v<Value, Reported>)
            put_figure(text, value);
          else if constexpr (std::is_same_v<Value, std::int64_t>)
            put_count(text, value);
        },
        value_of(field, event));
  text += '\n';
}

// A count that was not reported is "-". The number of a step always is one.
bool take_count(std::string_view& text, std::int64_t& count, bool is_step)
{
  const bool is_missing = text.starts_with(" -") && (text.size() == 2 || text[2] == ' ');
  if (is_step || !is_missing) return take(text, count);
  text.remove_prefix(2);
  count = not_counted;
  return true;
}

// The event in a line without its tag; monostate if the line does not have exactly the figures of the
// fields. The last ones of Presence::later may be missing.
template<class Record> Event event_of(std::string_view figures, Fields<Record> fields)
{
  Record event;
  for (const auto& field : fields) {
    if (figures.empty() && field.presence == Presence::later) break;
    bool taken = false;
    if (const auto* real = std::get_if<double& (*)(Record&)>(&field.place)) {
      Reported figure;
      taken = take(figures, figure);
      (*real)(event) = or_not_measured(figure);
    }
    if (const auto* reported = std::get_if<Reported& (*)(Record&)>(&field.place)) taken = take(figures, (*reported)(event));
    if (const auto* whole = std::get_if<std::int64_t& (*)(Record&)>(&field.place))
      taken = take_count(figures, (*whole)(event), field.name == "step");
    if (!taken) return {};
  }
  return figures.empty() ? Event(event) : Event();
}

} // namespace

void append_line(std::string& text, const StepEvent& event) { append_event(text, "step", event, step_event_fields()); }
void append_line(std::string& text, const EvalEvent& event) { append_event(text, "eval", event, eval_event_fields()); }

Event parse_event(std::string_view line)
{
  if (line.size() < 5) return {};
  const auto tag = line.substr(0, 4);
  line.remove_prefix(4);
  if (tag == "step") return event_of(line, step_event_fields());
  if (tag == "eval") return event_of(line, eval_event_fields());
  return {};
}

Events parse_events(std::string_view text)
{
  Events events;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto event = parse_event(text.substr(0, end));
    if (const auto* step = std::get_if<StepEvent>(&event)) events.steps.push_back(*step);
    if (const auto* eval = std::get_if<EvalEvent>(&event)) events.evals.push_back(*eval);
    text.remove_prefix(end + 1);
  }
  return events;
}

} // namespace dt
