#include "tests/bench/statistics/report.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace dt::bench {
namespace {

constexpr std::size_t least_width = 7;

std::size_t width_of(const std::string& name, const Json& value)
{
  return std::max({least_width, name.size(), value.is_string() ? std::size_t{14} : std::size_t{0}});
}

std::string text_of(const std::string& name, const Json& value)
{
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  return name.starts_with("runs") ? fmt::format("{:.2f}", value.get<double>())
                                  : fmt::format("{:.1f} %", 100 * value.get<double>());
}

} // namespace

void Report::row(const Json& row)
{
  std::string head, line;
  for (const auto& [name, value] : row.items()) {
    if (name == "case") continue;
    head += fmt::format("{:>{}}  ", name, width_of(name, value));
    line += fmt::format("{:>{}}  ", text_of(name, value), width_of(name, value));
  }
  if (last_case_ != row.at("case")) fmt::print("\n{}\n{}\n", row.at("case").get<std::string>(), head);
  last_case_ = row.at("case");
  fmt::print("{}\n", line);
  std::fflush(stdout);
  if (json_ == nullptr) return;
  fmt::print(json_, "{}\n", row.dump());
  std::fflush(json_);
}

void report_cases(Report& report, const BenchOptions& options, std::size_t count,
                  const std::function<Json(std::size_t, test::Draws&)>& row_of)
{
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::map<std::size_t, Json> done;
  std::size_t printed = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      test::Draws draws(sub_key(options.seed, i));
      auto row = row_of(i, draws);
      const std::lock_guard lock(mutex);
      done.emplace(i, std::move(row));
      for (auto found = done.find(printed); found != done.end(); found = done.find(++printed)) report.row(found->second);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
}

} // namespace dt::bench
