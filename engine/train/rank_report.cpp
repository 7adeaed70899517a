#include "engine/train/rank_report.hpp"

#include <span>

#include <sys/resource.h>

namespace dt::engine {
namespace {

// On the wire a record is its numbers in one order; 2^53 bytes are exact in a double.
std::vector<double> numbers_of(const RankRecord& record)
{
  std::vector<double> numbers;
  const auto put = [&](const PhaseStats& s) {
    numbers.insert(numbers.end(), {s.total_s, s.mean_s, s.p50_s, s.p95_s, s.p99_s, s.max_s});
  };
  for (const auto& phase : record.phases) put(phase);
  put(record.step);
  for (const auto count : {record.bytes_sent, record.messages_sent, record.memory_peak_bytes})
    numbers.push_back(static_cast<double>(count));
  return numbers;
}

RankRecord record_of(std::span<const double> numbers)
{
  RankRecord record;
  std::size_t next = 0;
  const auto take = [&] { return numbers[next++]; };
  const auto take_stats = [&](PhaseStats& s) {
    for (double* value : {&s.total_s, &s.mean_s, &s.p50_s, &s.p95_s, &s.p99_s, &s.max_s}) *value = take();
  };
  for (auto& phase : record.phases) take_stats(phase);
  take_stats(record.step);
  for (auto* count : {&record.bytes_sent, &record.messages_sent, &record.memory_peak_bytes})
    *count = static_cast<std::int64_t>(take());
  return record;
}

} // namespace

std::vector<RankRecord> gather_records(const RankRecord& mine, Communicator& comm)
{
  const auto own = numbers_of(mine);
  const auto all = comm.gather_numbers(own);
  const auto hosts = comm.gather_texts(mine.host);
  std::vector<RankRecord> records;
  for (std::size_t r = 0; r * own.size() < all.size(); ++r) {
    records.push_back(record_of(std::span(all).subspan(r * own.size(), own.size())));
    records.back().rank = static_cast<int>(r);
    records.back().host = hosts[r];
  }
  return records;
}

double communication_share(const std::vector<RankRecord>& ranks)
{
  double sum = 0;
  for (const auto& rank : ranks) sum += rank.phases[static_cast<std::size_t>(Phase::communication)].total_s / rank.step.total_s;
  return sum / static_cast<double>(ranks.size());
}

std::int64_t memory_peak_bytes()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024; // Linux counts in KiB
}

} // namespace dt::engine
