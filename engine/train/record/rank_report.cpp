#include "engine/train/record/rank_report.hpp"

#include "core/files/file.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <sstream>
#include <string_view>

namespace dt::train {
namespace {

constexpr const char* server_role = "server";

// Records are sent as numbers in a fixed order. A double is exact up to 2^53 bytes.
std::vector<double> numbers_of(const RankRecord& record)
{
  std::vector<double> numbers;
  const auto put = [&](const PhaseStats& s) {
    numbers.insert(numbers.end(), {s.total_s, s.mean_s, s.p50_s, s.p95_s, s.p99_s, s.max_s});
  };
  for (const auto& phase : record.phases) put(phase);
  put(record.step);
  numbers.push_back(record.late_s);
  numbers.push_back(record.role == server_role ? 1 : 0);
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
  record.late_s = take();
  if (take() > 0) record.role = server_role;
  for (auto* count : {&record.bytes_sent, &record.messages_sent, &record.memory_peak_bytes})
    *count = static_cast<std::int64_t>(take());
  return record;
}

// Number of updates for each staleness. Only few values of staleness occur, for any number of updates.
using AgeCounts = std::map<std::int32_t, std::int64_t>;

AgeCounts counts_of(const std::vector<std::int32_t>& ages)
{
  AgeCounts counts;
  for (const auto age : ages) ++counts[age];
  return counts;
}

AgeCounts all_counts(const AgeCounts& mine, comm::Communicator& comm)
{
  std::ostringstream text;
  for (const auto& [age, count] : mine) text << age << ' ' << count << ' ';
  AgeCounts all;
  for (const auto& part : comm.gather_texts(text.str())) {
    if (part.empty()) continue; // of all ranks, where there is no server
    std::istringstream numbers(part);
    std::int32_t age = 0;
    for (std::int64_t count = 0; numbers >> age >> count;) all[age] += count;
  }
  return all;
}

} // namespace

std::vector<RankRecord> gather_records(const RankRecord& mine, comm::Communicator& comm)
{
  const auto own = numbers_of(mine);
  const auto all = comm.gather_numbers(own);
  const auto hosts = comm.gather_texts(mine.host, comm::Receivers::root);
  std::vector<RankRecord> records;
  for (std::size_t r = 0; r * own.size() < all.size(); ++r) {
    records.push_back(record_of(std::span(all).subspan(r * own.size(), own.size())));
    records.back().rank = static_cast<int>(r);
    records.back().host = hosts[r];
  }
  return records;
}

double mean_of_workers(double mine, const sync::Roles& roles, comm::Communicator& comm)
{
  const auto all = comm.gather_numbers(std::array{mine});
  double sum = 0;
  int measured = 0;
  for (const int worker : roles.workers) {
    if (all.empty() || std::isnan(all[static_cast<std::size_t>(worker)])) continue;
    sum += all[static_cast<std::size_t>(worker)];
    ++measured;
  }
  return measured > 0 ? sum / measured : not_measured;
}

Staleness gather_staleness(const std::vector<std::int32_t>& mine, comm::Communicator& comm)
{
  const auto updates = all_counts(counts_of(mine), comm);
  Staleness all;
  double sum = 0;
  for (const auto& [age, count] : updates) {
    all.updates += count;
    sum += static_cast<double>(age) * static_cast<double>(count);
  }
  if (all.updates == 0) return all;
  all.mean = sum / static_cast<double>(all.updates);
  all.max = updates.rbegin()->first;
  const auto rank = static_cast<std::int64_t>(std::ceil(0.95 * static_cast<double>(all.updates)));
  std::int64_t below = 0;
  for (const auto& [age, count] : updates) {
    all.p95 = age;
    if ((below += count) >= rank) break;
  }
  return all;
}

std::int64_t memory_peak_bytes()
{
  // getrusage() would be wrong: its ru_maxrss includes the program that ran in this process before exec.
  constexpr std::string_view field = "VmHWM:";
  const auto status = read_file_if_exists("/proc/self/status").value_or("");
  const auto place = status.find(field);
  if (place == std::string::npos) return 0;
  return std::strtoll(status.c_str() + place + field.size(), nullptr, 10) * 1024; // the file says kB but means KiB
}

} // namespace dt::train
