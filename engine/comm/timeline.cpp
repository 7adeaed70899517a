#include "engine/comm/timeline.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "engine/comm/clock_offset.hpp"

#include <cmath>
#include <map>
#include <string_view>

namespace dt::comm {
namespace {

std::int64_t nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

// Assigns numbers to names in order of appearance.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  int number(const char* name)
  {
    const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string_view, int> numbers_;
};

} // namespace

void Timeline::begin()
{
  begin_ = measure_clock_offset(comm_);
  comm_.begin_trace();
}

void Timeline::end()
{
  if (comm_.trace() != nullptr) end_ = measure_clock_offset(comm_);
}

void Timeline::write(const AttemptFolder& attempt, const std::string& role) const
{
  if (comm_.trace() == nullptr) return;
  TraceRecord record{.rank = comm_.rank(),
                     .role = role,
                     .host = host_name(),
                     .begin = begin_,
                     .end = end_,
                     .forgotten = comm_.trace()->forgotten(),
                     .names = {},
                     .spans = {}};
  Names names(record.names);
  for (const auto& span : comm_.trace()->spans())
    record.spans.push_back({.name = names.number(span.name),
                            .track = names.number(span.track),
                            .begin_ns = nanoseconds(span.begin_s - begin_.local_s),
                            .length_ns = nanoseconds(span.end_s - span.begin_s),
                            .step = span.step,
                            .bytes = span.bytes,
                            .peer = span.peer,
                            .tag = span.tag});
  make_folder(attempt.trace());
  write_file_atomic(trace_path(attempt, comm_.rank()), to_text(record));
}

} // namespace dt::comm
