#include "core/record/attempt/attempt_record.hpp"

#include "core/files/file_at.hpp"
#include "core/record/json_fields.hpp"
#include "core/record/parse.hpp"

#include <algorithm>
#include <cmath>

namespace dt {
namespace {

// Records are written atomically. A text that cannot be read is therefore damaged, not incomplete.
void note_damage(AttemptRecord& record, const std::filesystem::path& path)
{
  record.problems.push_back(record::refusal_of(path, read_file_if_exists(path).value_or("")) + "; it was left out");
}

template<class Part>
void keep(AttemptRecord& record, std::optional<Part>& member, std::optional<Part> part, const std::filesystem::path& path)
{
  if (!part) note_damage(record, path);
  member = std::move(part);
}

void keep_outcome(AttemptRecord& record, std::optional<Outcome> outcome, const std::filesystem::path& path,
                  AttemptReader::Figures figures)
{
  if (!outcome) return note_damage(record, path);
  record.has_result = outcome->result.has_value();
  record.fenced_by = outcome->fenced_by;
  if (outcome->result) record.divergence = outcome->result->divergence;
  if (figures == AttemptReader::Figures::kept) record.result = std::move(outcome->result);
}

// Markers: only their presence counts.
bool* marker(AttemptFile file, AttemptRecord& record)
{
  switch (file) {
  case AttemptFile::requeue:
    return &record.requeue_asked;
  case AttemptFile::settled:
    return &record.is_settled;
  default:
    return nullptr;
  }
}

// When a heartbeat was written, by this process's clock: what the file itself tells, unless its writer has the same clock and so
// knows better. `changed`: NaN if the file is gone.
double by_own_clock(double written_unix_s, double changed_unix_s)
{
  constexpr double same_clock_s = 2;
  const bool is_same = std::isnan(changed_unix_s) || std::abs(changed_unix_s - written_unix_s) < same_clock_s;
  return is_same ? written_unix_s : changed_unix_s;
}

// Adds the record of a file to the attempt's.
void add(AttemptRecord& record, AttemptFile file, const std::string& text, const std::filesystem::path& path,
         AttemptReader::Figures figures)
{
  using enum AttemptFile;
  using namespace dt::record;
  switch (file) {
  case submission:
    return keep(record, record.submission, parse_submission(text), path);
  case deferred:
    return keep(record, record.deferral, parse_deferral(text), path);
  case begin:
    return keep(record, record.begin, parse_begin(text), path);
  case error:
    return keep(record, record.error, parse_error(text), path);
  case result:
    return keep_outcome(record, parse_outcome(text), path, figures);
  case probe:
    return keep(record, record.probe, parse_probe(text), path);
  case load:
    return keep(record, record.load, parse_load(text), path);
  case energy:
    return keep(record, record.energy, parse_energy(text), path);
  case preempted:
    return keep(record, record.preemption, parse_preemption(text), path);
  case cause:
    return keep(record, record.cause, parse_failure_cause(text), path);
  case stall:
    return keep(record, record.stall, parse_stall(text), path);
  case owner:
    record.has_owner = true;
    return;
  case heartbeat:
    record.heartbeat = parse_heartbeat(text);
    if (record.heartbeat) record.heartbeat->unix_s = by_own_clock(record.heartbeat->unix_s, changed_unix_s(path));
    return;
  case asked:
    record.wishes = parse_wishes(text);
    return;
  case launches:
    record.launches = parse_launches(text);
    return;
  case end:
    record.end = parse_end(text);
    return;
  case cancel:
    record.cancel = parse_cancellation(text);
    return;
  case stop_reason:
    if (const auto line = text.substr(0, text.find('\n')); !line.empty()) record.stop_reason = parse_stop_reason(line);
    return;
  default:
    throw Error(ErrorKind::internal, "an attempt's record has no member for " + std::string(name_of(file)));
  }
}

} // namespace

AttemptReader::AttemptReader(AttemptFolder folder, Figures figures) : folder_(std::move(folder)), figures_(figures)
{
  list_again();
}

void AttemptReader::list_again()
{
  if (has_ended_) return; // may_have is true for every file already
  names_ = names_in(folder_.path());
  has_ended_ = may_have(AttemptFile::end);
}

bool AttemptReader::may_have(AttemptFile file) const
{
  return has_ended_ || std::find(names_.begin(), names_.end(), name_of(file)) != names_.end();
}

bool AttemptReader::has(AttemptFile file) const { return may_have(file) && is_there(folder_.path_of(file)); }

void AttemptReader::read(std::span<const AttemptFile> files, AttemptRecord& record, const Observer& observer)
{
  record.number = folder_.number();
  for (const auto file : files) read(file, record, observer);
}

void AttemptReader::read(AttemptFile file, AttemptRecord& record, const Observer& observer)
{
  const auto index = static_cast<std::size_t>(file);
  if (opened_[index]) return;
  if (auto* is_present = marker(file, record)) {
    *is_present = has(file);
    return;
  }
  const auto path = folder_.path_of(file);
  const auto text = may_have(file) ? read_file_if_exists(path) : std::nullopt;
  if (observer) observer(text ? &*text : nullptr);
  if (!text) return;
  opened_.set(index);
  add(record, file, *text, path, figures_);
}

AttemptRecord read_attempt(const AttemptFolder& folder, std::span<const AttemptFile> files)
{
  AttemptRecord record;
  AttemptReader(folder).read(files, record);
  return record;
}

} // namespace dt
