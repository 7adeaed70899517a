#include "jobs/slurm/records.hpp"

#include <algorithm>

namespace dt::jobs::slurm {
namespace {

std::string place_of(const BatchToken& token)
{
  return token.kind == BatchKind::array ? format_token(token) : static_cast<char>(token.kind) + token.batch;
}

bool lives(const SlurmRecord& record)
{
  return record.base_state <= static_cast<std::uint32_t>(BaseState::suspended) || record.flags.completing;
}

bool outranks(const SlurmRecord& a, const SlurmRecord& b)
{
  if (lives(a) != lives(b)) return lives(a);
  return a.submit_unix_s > b.submit_unix_s;
}

} // namespace

KnownJobs::KnownJobs(std::vector<SlurmRecord> records) : records_(std::move(records))
{
  for (const auto& record : records_) {
    const std::string place(batch_of_comment(record.comment));
    if (place.empty()) continue; // not a job of dtctl
    batches_.emplace(place, &record);
    if (!place.starts_with(static_cast<char>(BatchKind::array))) add(place, record);
    for (const auto task : record.tasks) add(place + "." + std::to_string(task), record);
  }
}

void KnownJobs::add(const std::string& place, const SlurmRecord& record)
{
  const auto [entry, is_new] = places_.try_emplace(place, &record);
  if (is_new) return;
  const bool is_better = outranks(record, *entry->second);
  outranked_.emplace(place, is_better ? entry->second : &record);
  if (is_better) entry->second = &record;
}

const SlurmRecord* KnownJobs::find(const BatchToken& token) const
{
  const auto found = places_.find(place_of(token));
  return found == places_.end() ? nullptr : found->second;
}

std::vector<const SlurmRecord*> KnownJobs::living(const BatchToken& token) const
{
  const auto place = place_of(token);
  std::vector<const SlurmRecord*> found;
  const auto take = [&](const SlurmRecord* record) {
    if (lives(*record)) found.push_back(record);
  };
  if (const auto best = places_.find(place); best != places_.end()) take(best->second);
  const auto [begin, end] = outranked_.equal_range(place);
  for (auto entry = begin; entry != end; ++entry) take(entry->second);
  return found;
}

std::vector<const SlurmRecord*> KnownJobs::living_of(BatchKind kind, std::string_view batch) const
{
  std::vector<const SlurmRecord*> found;
  const auto [begin, end] = batches_.equal_range(static_cast<char>(kind) + std::string(batch));
  for (auto entry = begin; entry != end; ++entry)
    if (lives(*entry->second)) found.push_back(entry->second);
  return found;
}

bool KnownJobs::knows_array(const BatchToken& token, const std::string& job_id) const
{
  const auto [begin, end] = batches_.equal_range(static_cast<char>(token.kind) + token.batch);
  return std::any_of(begin, end, [&](const auto& entry) {
    return entry.second->array_id != 0 && format_job_id(token.kind, entry.second->array_id, token.index) == job_id;
  });
}

std::uint32_t job_of(const SlurmRecord& record) { return record.array_id != 0 ? record.array_id : record.id; }

std::string id_of(const SlurmRecord& record, const BatchToken& token)
{
  return format_job_id(token.kind, job_of(record), token.index);
}

} // namespace dt::jobs::slurm
