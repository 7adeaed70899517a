#include "cli/export/trace_events.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::cli {
namespace {

// A span on rank 0's clock, with the row in which it is drawn.
struct Slice {
  const TraceSpan* span = nullptr;
  double begin_us = 0, end_us = 0;
  int row = 0; // thread id, unique within its rank
};

struct Row {
  int id = 0;
  std::vector<double> open_until_us; // end times of the slices that enclose the next one, outermost first
};

// Everything that is drawn for one rank.
struct RankSlices {
  const TraceRecord* record = nullptr;
  std::vector<Slice> slices;       // sorted by begin, longer ones first
  std::map<int, std::string> rows; // names of the threads
};

std::string quoted(const std::string& text)
{
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whether the slice begins after, or lies within, the slices that are still open in the row.
bool fits(Row& row, const Slice& slice)
{
  auto& open = row.open_until_us;
  while (!open.empty() && open.back() <= slice.begin_us) open.pop_back();
  return open.empty() || slice.end_us <= open.back();
}

// The rows of one track. A slice goes into the first row that has room for it.
class Track {
 public:
  Track(std::string name, RankSlices& rank) : name_(std::move(name)), rank_(rank) {}
  void place(Slice& slice)
  {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](Row& candidate) { return fits(candidate, slice); });
    if (row == rows_.end()) row = rows_.insert(rows_.end(), {.id = add_row(), .open_until_us = {}});
    row->open_until_us.push_back(slice.end_us);
    slice.row = row->id;
  }

 private:
  int add_row()
  {
    const int id = static_cast<int>(rank_.rows.size()) + 1;
    rank_.rows[id] = rows_.empty() ? name_ : fmt::format("{} ({})", name_, rows_.size() + 1);
    return id;
  }

  std::string name_;
  RankSlices& rank_;
  std::vector<Row> rows_;
};

void place_in_rows(RankSlices& rank)
{
  std::stable_sort(rank.slices.begin(), rank.slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us > b.end_us;
  });
  std::map<int, Track> tracks;
  for (auto& slice : rank.slices) {
    const int name = slice.span->track;
    tracks.try_emplace(name, rank.record->names[static_cast<std::size_t>(name)], rank).first->second.place(slice);
  }
}

RankSlices slices_of(const TraceRecord& record, const StepRange& steps)
{
  RankSlices rank{.record = &record, .slices = {}, .rows = {}};
  for (const auto& span : record.spans)
    if (steps.contains(span.step))
      rank.slices.push_back({.span = &span,
                             .begin_us = 1e6 * record.aligned_s(span.begin_ns),
                             .end_us = 1e6 * record.aligned_s(span.begin_ns + span.length_ns)});
  return rank;
}

// Shifts all times so that the first slice begins at 0.
void begin_at_zero(std::vector<RankSlices>& ranks)
{
  double first_us = std::numeric_limits<double>::infinity();
  for (const auto& rank : ranks)
    for (const auto& slice : rank.slices) first_us = std::min(first_us, slice.begin_us);
  for (auto& rank : ranks)
    for (auto& slice : rank.slices) {
      slice.begin_us -= first_us;
      slice.end_us -= first_us;
    }
}

// Writes the events of one JSON array, with commas between them.
class Events {
 public:
  explicit Events(const std::function<void(std::string_view)>& write) : write_(write) {}
  void add(const std::string& event)
  {
    text_ += std::exchange(is_first_, false) ? "\n" : ",\n";
    text_ += event;
    if (text_.size() > piece) flush();
  }
  void flush()
  {
    write_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t piece = 1 << 20;
  const std::function<void(std::string_view)>& write_;
  std::string text_;
  bool is_first_ = true;
};

void add_names(const RankSlices& rank, Events& events)
{
  const auto& r = *rank.record;
  const auto add = [&](int tid, const char* what, const std::string& value) {
    events.add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, r.rank, tid, value));
  };
  add(0, "process_name",
      "\"name\":" + quoted(fmt::format("rank {} on {}{}", r.rank, r.host, r.role == "server" ? ", server" : "")));
  add(0, "process_sort_index", fmt::format("\"sort_index\":{}", r.rank));
  for (const auto& [tid, name] : rank.rows) {
    add(tid, "thread_name", "\"name\":" + quoted(name));
    add(tid, "thread_sort_index", fmt::format("\"sort_index\":{}", tid));
  }
}

void add_slice(const TraceRecord& record, const Slice& slice, Events& events)
{
  const auto& span = *slice.span;
  std::string args = fmt::format(R"("step":{})", span.step);
  if (span.bytes >= 0) args += fmt::format(R"(,"bytes":{})", span.bytes);
  if (span.peer >= 0) args += fmt::format(R"(,"peer":{})", span.peer);
  events.add(fmt::format(R"({{"ph":"X","name":{},"cat":{},"ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{},"args":{{{}}}}})",
                         quoted(record.names[static_cast<std::size_t>(span.name)]),
                         quoted(record.names[static_cast<std::size_t>(span.track)]), slice.begin_us,
                         std::max(0.0, slice.end_us - slice.begin_us), record.rank, slice.row, args));
}

// The two ends of all messages on a route. Messages between two ranks with the same tag arrive in the order in which they were
// sent.
using Route = std::tuple<int, int, int>; // from, to, tag
struct Ends {
  std::vector<const Slice*> sent, received;
};

std::map<Route, Ends> messages_of(const std::vector<RankSlices>& ranks)
{
  std::map<Route, Ends> messages;
  for (const auto& rank : ranks)
    for (const auto& slice : rank.slices) {
      const auto& span = *slice.span;
      if (span.tag < 0 || span.peer < 0) continue;
      const int here = rank.record->rank;
      const auto& name = rank.record->names[static_cast<std::size_t>(span.name)];
      if (name == "send") messages[{here, span.peer, span.tag}].sent.push_back(&slice);
      if (name == "receive") messages[{span.peer, here, span.tag}].received.push_back(&slice);
    }
  return messages;
}

void add_arrows(const std::vector<RankSlices>& ranks, Events& events)
{
  std::int64_t id = 0;
  for (const auto& [route, ends] : messages_of(ranks)) {
    if (ends.sent.size() != ends.received.size()) continue; // some messages were not recorded, and it is unknown which
    for (std::size_t i = 0; i < ends.sent.size(); ++i) {
      const auto &from = *ends.sent[i], &to = *ends.received[i];
      constexpr auto format = R"({{"ph":"{}",{}"name":"message","cat":"message","id":{},"ts":{:.3f},"pid":{},"tid":{}}})";
      events.add(fmt::format(format, "s", "", ++id, from.begin_us, std::get<0>(route), from.row));
      // Clocks are compared only to within microseconds, so make sure that no arrow points back in time.
      events.add(fmt::format(format, "f", R"("bp":"e",)", id, std::max(to.end_us, from.begin_us), std::get<1>(route), to.row));
    }
  }
}

} // namespace

void write_trace_events(const std::vector<TraceRecord>& records, const StepRange& steps,
                        const std::function<void(std::string_view)>& write)
{
  std::vector<RankSlices> ranks;
  for (const auto& record : records) ranks.push_back(slices_of(record, steps));
  begin_at_zero(ranks);
  for (auto& rank : ranks) place_in_rows(rank);

  Events events(write);
  write(R"({"displayTimeUnit":"ms","traceEvents":[)");
  for (const auto& rank : ranks) {
    add_names(rank, events);
    for (const auto& slice : rank.slices) add_slice(*rank.record, slice, events);
  }
  add_arrows(ranks, events);
  events.flush();
  write("\n]}\n");
}

} // namespace dt::cli
