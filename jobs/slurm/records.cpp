#include "jobs/slurm/records.hpp"

#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

std::string place_of(const BatchToken& token)
{
  return token.kind == BatchKind::array ? format_token(token) : static_cast<char>(token.kind) + token.batch;
}

bool lives(const SlurmRecord& record) { return record.phase <= JobPhase::held; }

bool outranks(const SlurmRecord& a, const SlurmRecord& b)
{
  if (lives(a) != lives(b)) return lives(a);
  return a.submit_unix_s > b.submit_unix_s;
}

// The batch of a job without a comment of dtctl; empty if it is of none.
std::string batch_by_id(const SlurmRecord& record, const SeenBatches& seen)
{
  for (const auto& [place, jobs] : seen)
    if (std::any_of(jobs.begin(), jobs.end(), [&](const SeenJob& job) { return is_of(job, record); })) return place;
  return {};
}

// Whether one of dtctl's jobs once had this id, and this one is another: the controller has given the id out again.
bool has_reused_id(const SlurmRecord& record, const SeenBatches& seen)
{
  return record.restarts == 0 && std::any_of(seen.begin(), seen.end(), [&](const auto& batch) {
           return std::any_of(batch.second.begin(), batch.second.end(),
                              [&](const SeenJob& job) { return job.id == job_of(record); });
         });
}

} // namespace

std::vector<SeenJob> read_seen_jobs(const std::filesystem::path& batch_folder)
{
  std::vector<SeenJob> jobs;
  for (const auto& line : split(read_file_if_exists(batch_folder / "jobs").value_or(""), '\n')) {
    const auto first = line.find(' '), second = first == line.npos ? first : line.find(' ', first + 1);
    if (second == line.npos) continue;
    const auto id = number_of<std::uint32_t>(line.substr(0, first));
    const auto submitted = number_of<std::int64_t>(line.substr(first + 1, second - first - 1));
    if (id && submitted) jobs.push_back({*id, *submitted, line.substr(second + 1)});
  }
  return jobs;
}

void add_seen_job(const std::filesystem::path& batch_folder, const SeenJob& job)
{
  const auto path = batch_folder / "jobs";
  write_all(open_regular(path, O_WRONLY | O_CREAT | O_APPEND).get(),
            fmt::format("{} {} {}\n", job.id, job.submit_unix_s, printable(job.name)), path);
}

SeenBatches read_seen_batches(const Home& home, std::span<const std::string> tokens)
{
  SeenBatches batches;
  for (const auto& text : tokens) {
    const auto token = parse_token(text);
    if (!token) continue;
    if (const auto [entry, is_new] = batches.try_emplace(static_cast<char>(token->kind) + token->batch); is_new)
      entry->second = read_seen_jobs(batch_folder(home, token->batch));
  }
  return batches;
}

bool is_of(const SeenJob& job, const SlurmRecord& record)
{
  if (job_of(record) != job.id) return false;
  if (record.submit_unix_s == job.submit_unix_s) return true;
  return record.restarts > 0 && record.submit_unix_s > job.submit_unix_s && printable(record.name) == job.name;
}

KnownJobs::KnownJobs(std::vector<SlurmRecord> records, const std::function<SeenBatches()>& seen) : records_(std::move(records))
{
  std::optional<SeenBatches> batches;
  for (const auto& record : records_) {
    std::string place(batch_of_comment(record.comment));
    if (place.empty() && seen) {
      if (!batches) batches = seen();
      place = batch_by_id(record, *batches);
    }
    if (place.empty()) {
      if (!batches || !has_reused_id(record, *batches)) strangers_.push_back(&record);
      continue;
    }
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

std::optional<std::int64_t> KnownJobs::submission_of_array(const BatchToken& token, const std::string& job_id) const
{
  std::optional<std::int64_t> earliest; // a task that is started again has a later one
  const auto [begin, end] = batches_.equal_range(static_cast<char>(token.kind) + token.batch);
  for (auto entry = begin; entry != end; ++entry) {
    const auto& record = *entry->second;
    if (record.array_id != 0 && format_job_id(token.kind, record.array_id, token.index) == job_id)
      earliest = std::min(earliest.value_or(record.submit_unix_s), record.submit_unix_s);
  }
  return earliest;
}

const SlurmRecord* KnownJobs::stranger(const BatchToken& token, const std::string& job_id) const
{
  const auto has_id = [&](const SlurmRecord* record) {
    const bool has_task = token.kind != BatchKind::array ||
                          std::find(record->tasks.begin(), record->tasks.end(), token.index) != record->tasks.end();
    return lives(*record) && has_task && id_of(*record, token) == job_id;
  };
  const auto found = job_id.empty() ? strangers_.end() : std::find_if(strangers_.begin(), strangers_.end(), has_id);
  return found == strangers_.end() ? nullptr : *found;
}

std::uint32_t job_of(const SlurmRecord& record) { return record.array_id != 0 ? record.array_id : record.id; }

std::string id_of(const SlurmRecord& record, const BatchToken& token)
{
  return format_job_id(token.kind, job_of(record), token.index);
}

} // namespace dt::jobs::slurm
