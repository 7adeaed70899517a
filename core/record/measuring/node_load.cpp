#include "core/record/measuring/node_load.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/host_list.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

namespace dt {
namespace {

double load_average()
{
  double load = not_measured;
  return ::getloadavg(&load, 1) == 1 ? load : not_measured;
}

// Containers on one machine share its kernel, and so its boot id.
std::string machine_id()
{
  const auto boot = read_file_if_exists("/proc/sys/kernel/random/boot_id");
  return boot ? std::string(trim(*boot)) : host_name();
}

double share(double value) { return std::isnan(value) ? value : std::clamp(value, 0.0, 1.0); }

// The share of its threads' time for which each rank of a machine was held back by a CPU quota. A control group's time is summed
// over the threads of all ranks in it.
std::vector<double> throttled_shares(const std::vector<const RankLoad*>& ranks)
{
  std::map<std::string, std::int64_t> threads; // of each control group
  for (const auto* rank : ranks)
    for (const auto& [group, time_s] : rank->throttled_s) threads[group] += rank->threads;
  std::vector<double> shares;
  for (const auto* rank : ranks) {
    double most = not_measured;
    for (const auto& [group, time_s] : rank->throttled_s)
      most = std::fmax(most, share(time_s / (rank->seconds * static_cast<double>(threads[group])))); // fmax ignores NaN
    shares.push_back(most);
  }
  return shares;
}

// Ranks of one machine that share cores, directly or through other ranks.
struct Group {
  std::set<int> cores;
  double own_s = 0, seconds = 0;
  double threads = 0; // without the time for which they were held back by a quota: nobody else could delay them then
};

bool share_cores(const Group& a, const Group& b)
{
  return std::any_of(a.cores.begin(), a.cores.end(), [&](int core) { return b.cores.contains(core); });
}

void join_groups(Group& into, const Group& from)
{
  into.cores.insert(from.cores.begin(), from.cores.end());
  into.own_s += from.own_s;
  into.threads += from.threads;
  into.seconds = std::max(into.seconds, from.seconds);
}

std::vector<Group> groups_of(const std::vector<const RankLoad*>& ranks, const std::vector<double>& throttled)
{
  std::vector<Group> groups;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto* rank = ranks[i];
    const double free_to_run = std::isnan(throttled[i]) ? 1 : 1 - throttled[i];
    Group group{
        {rank->mask.begin(), rank->mask.end()}, rank->own_s, rank->seconds, static_cast<double>(rank->threads) * free_to_run};
    std::erase_if(groups, [&](const Group& other) {
      if (!share_cores(group, other)) return false;
      join_groups(group, other);
      return true;
    });
    groups.push_back(std::move(group));
  }
  return groups;
}

CoreTimes times_of(const std::set<int>& cores, const std::map<int, CoreTimes>& all)
{
  CoreTimes sum;
  for (const int core : cores) {
    const auto found = all.find(core);
    if (found == all.end()) return {not_measured, not_measured};
    sum.busy_s += found->second.busy_s;
    sum.steal_s += found->second.steal_s;
  }
  return sum;
}

constexpr double least_needed = 0.01; // cores; threads that were held back all the time needed none

// Share of the cores that the group's threads needed but other programs used.
double others_share(const Group& group, const CoreTimes& times)
{
  const auto cores = static_cast<double>(group.cores.size()), needed = std::min(cores, group.threads);
  if (needed < least_needed) return 0;
  const double others = (times.busy_s - group.own_s) / group.seconds; // number of cores' worth
  return share((others - (cores - needed)) / needed);
}

void add_group(NodeLoad& node, const Group& group, const std::map<int, CoreTimes>& cores)
{
  const auto times = times_of(group.cores, cores);
  node.others_share = std::fmax(node.others_share, others_share(group, times)); // fmax ignores NaN (not measured)
  node.steal_share =
      std::fmax(node.steal_share, share(times.steal_s / (group.seconds * static_cast<double>(group.cores.size()))));
  node.own_cores += static_cast<std::int64_t>(group.cores.size());
}

double busy_elsewhere(const RankLoad& rank, const std::set<int>& own)
{
  double busy_s = 0;
  int others = 0;
  for (const auto& [core, times] : rank.cores)
    if (!own.contains(core)) busy_s += times.busy_s, ++others;
  return others == 0 ? not_measured : share(busy_s / (rank.seconds * others));
}

NodeLoad node_of(const std::vector<const RankLoad*>& ranks)
{
  const auto& first = *ranks.front();
  std::vector<std::string> hosts;
  for (const auto* rank : ranks) hosts.push_back(rank->host);
  NodeLoad node{.host = compact_hosts(hosts),
                .cores = static_cast<std::int64_t>(first.cores.size()),
                .seconds = first.seconds,
                .load_begin = first.load_begin,
                .load_end = first.load_end};
  for (const auto* rank : ranks) node.quota_cores = std::fmin(node.quota_cores, rank->quota_cores); // fmin ignores NaN
  if (!(first.seconds > 0)) return node;
  const auto throttled = throttled_shares(ranks);
  for (const double rank_share : throttled) node.throttled_share = std::fmax(node.throttled_share, rank_share);
  std::set<int> own;
  for (const auto& group : groups_of(ranks, throttled)) {
    add_group(node, group, first.cores);
    own.insert(group.cores.begin(), group.cores.end());
  }
  node.elsewhere_share = busy_elsewhere(first, own);
  return node;
}

double number(std::string_view text) { return leading_number<double>(text).value_or(not_measured); }

} // namespace

std::map<int, CoreTimes> parse_core_times(std::string_view text, double ticks_per_s)
{
  std::map<int, CoreTimes> cores;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    // guest time is included in user
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, interrupt = 0, soft = 0, steal = 0;
    if (!(words >> name) || !name.starts_with("cpu") || name.size() == 3) continue;
    if (!(words >> user >> nice >> system >> idle >> disk >> interrupt >> soft >> steal)) continue;
    if (user + nice + system + idle + disk == 0) continue; // a kernel that does not count
    cores[std::atoi(name.c_str() + 3)] = {(user + nice + system) / ticks_per_s, steal / ticks_per_s};
  }
  return cores;
}

LoadLook look_at_machine(const std::string& process)
{
  const auto allowance = cpu_allowance("/", process);
  return {.clock_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          .load = load_average(),
          .cores = parse_core_times(read_file_if_exists("/proc/stat").value_or(""), static_cast<double>(::sysconf(_SC_CLK_TCK))),
          .throttled_s = throttled_times("/", process),
          .quota_cores = std::isinf(allowance.quota) ? not_measured : allowance.quota};
}

std::optional<double> processor_time_of_tree(pid_t process)
{
  // proc_pid_stat(5): the fields after the name in parentheses begin with the state; utime, stime, cutime, cstime are 11 to 14.
  const auto folder = fmt::format("/proc/{}", process);
  try {
    const auto stat = read_file_if_exists(folder + "/stat").value_or("");
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    const auto fields = split(std::string_view(stat).substr(name_end + 1), ' ');
    if (fields.size() < 16 || fields[1] == "Z" || fields[1] == "X") return std::nullopt;
    double time_s = 0;
    for (std::size_t field = 12; field <= 15; ++field) time_s += number(fields[field]);
    time_s /= static_cast<double>(::sysconf(_SC_CLK_TCK));
    for (const auto& thread : names_in(folder + "/task"))
      for (const auto& child : split(read_file_if_exists(folder + "/task/" + thread + "/children").value_or(""), ' '))
        if (!child.empty()) time_s += processor_time_of_tree(std::atoi(child.c_str())).value_or(0);
    return time_s;
  } catch (const Error&) { // it has just ended
    return std::nullopt;
  }
}

RankLoad load_between(const LoadLook& begin, const LoadLook& end, const std::vector<int>& mask, std::int64_t threads)
{
  RankLoad load{.machine = machine_id(),
                .host = host_name(),
                .mask = mask,
                .threads = threads,
                .seconds = end.clock_s - begin.clock_s,
                .own_s = end.own_s - begin.own_s,
                .load_begin = begin.load,
                .load_end = end.load,
                .quota_cores = end.quota_cores,
                .cores = {},
                .throttled_s = {}};
  for (const auto& [core, times] : end.cores)
    if (const auto before = begin.cores.find(core); before != begin.cores.end())
      load.cores[core] = {times.busy_s - before->second.busy_s, times.steal_s - before->second.steal_s};
  for (const auto& [group, time_s] : end.throttled_s)
    if (const auto before = begin.throttled_s.find(group); before != begin.throttled_s.end())
      load.throttled_s[group] = time_s - before->second;
  return load;
}

// The shortest form of a double reads back as the same value.
std::string to_text(const RankLoad& load)
{
  auto text = fmt::format("{}\n{}\n{}\n{} {} {} {} {} {}\n", load.machine, load.host, mask_text(load.mask), load.threads,
                          load.seconds, load.own_s, load.load_begin, load.load_end, load.quota_cores);
  for (const auto& [group, time_s] : load.throttled_s) text += fmt::format("group {} {}\n", group, time_s);
  for (const auto& [core, times] : load.cores) text += fmt::format("core {} {} {}\n", core, times.busy_s, times.steal_s);
  return text;
}

RankLoad parse_rank_load(const std::string& text)
{
  const auto lines = split(text, '\n');
  const auto numbers = split(lines.at(3), ' ');
  RankLoad load{.machine = lines.at(0), .host = lines.at(1), .mask = parse_mask(lines.at(2)), .cores = {}, .throttled_s = {}};
  load.threads = static_cast<std::int64_t>(number(numbers.at(0)));
  load.seconds = number(numbers.at(1));
  load.own_s = number(numbers.at(2));
  load.load_begin = number(numbers.at(3));
  load.load_end = number(numbers.at(4));
  load.quota_cores = number(numbers.at(5));
  for (std::size_t i = 4; i + 1 < lines.size(); ++i) {
    const auto words = split(lines[i], ' ');
    if (words.at(0) == "group")
      load.throttled_s[words.at(1)] = number(words.at(2));
    else
      load.cores[static_cast<int>(number(words.at(1)))] = {number(words.at(2)), number(words.at(3))};
  }
  return load;
}

std::vector<NodeLoad> node_loads(const std::vector<RankLoad>& ranks)
{
  std::vector<std::string> machines; // in the order of their first rank
  std::map<std::string, std::vector<const RankLoad*>> by_machine;
  for (const auto& rank : ranks) {
    auto& members = by_machine[rank.machine];
    if (members.empty()) machines.push_back(rank.machine);
    members.push_back(&rank);
  }
  std::vector<NodeLoad> nodes;
  for (const auto& machine : machines) nodes.push_back(node_of(by_machine[machine]));
  return nodes;
}

} // namespace dt
