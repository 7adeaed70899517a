#include "engine/train/record/node_load.hpp"

#include "core/file.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/placement.hpp"
#include "engine/train/record/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::train {
namespace {

double processor_time_s()
{
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

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

// Ranks of one machine that share cores, directly or through other ranks.
struct Group {
  std::set<int> cores;
  double own_s = 0, seconds = 0;
  std::int64_t threads = 0;
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

std::vector<Group> groups_of(const std::vector<const RankLoad*>& ranks)
{
  std::vector<Group> groups;
  for (const auto* rank : ranks) {
    Group group{{rank->mask.begin(), rank->mask.end()}, rank->own_s, rank->seconds, rank->threads};
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

double share(double value) { return std::isnan(value) ? value : std::clamp(value, 0.0, 1.0); }

// Share of the cores that the group's threads needed but other programs used.
double others_share(const Group& group, const CoreTimes& times)
{
  const auto cores = static_cast<double>(group.cores.size()), needed = std::min(cores, static_cast<double>(group.threads));
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
  if (!(first.seconds > 0)) return node;
  std::set<int> own;
  for (const auto& group : groups_of(ranks)) {
    add_group(node, group, first.cores);
    own.insert(group.cores.begin(), group.cores.end());
  }
  node.elsewhere_share = busy_elsewhere(first, own);
  return node;
}

// Text form to send. The shortest form of a double reads back as the same value.
std::string text_of(const RankLoad& load)
{
  auto text = fmt::format("{}\n{}\n{}\n{} {} {} {} {}\n", load.machine, load.host, comm::mask_text(load.mask), load.threads,
                          load.seconds, load.own_s, load.load_begin, load.load_end);
  for (const auto& [core, times] : load.cores) text += fmt::format("{} {} {}\n", core, times.busy_s, times.steal_s);
  return text;
}

double number(std::string_view text)
{
  double value = not_measured;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

RankLoad load_of(const std::string& text)
{
  const auto lines = split(text, '\n');
  const auto numbers = split(lines.at(3), ' ');
  RankLoad load{.machine = lines.at(0), .host = lines.at(1), .mask = comm::parse_mask(lines.at(2)), .cores = {}};
  load.threads = static_cast<std::int64_t>(number(numbers.at(0)));
  load.seconds = number(numbers.at(1));
  load.own_s = number(numbers.at(2));
  load.load_begin = number(numbers.at(3));
  load.load_end = number(numbers.at(4));
  for (std::size_t i = 4; i + 1 < lines.size(); ++i) {
    const auto words = split(lines[i], ' ');
    load.cores[static_cast<int>(number(words.at(0)))] = {number(words.at(1)), number(words.at(2))};
  }
  return load;
}

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

LoadLook look_at_load()
{
  return {comm::monotonic_s(), processor_time_s(), load_average(),
          parse_core_times(read_file_if_exists("/proc/stat").value_or(""), static_cast<double>(::sysconf(_SC_CLK_TCK)))};
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
                .cores = {}};
  for (const auto& [core, times] : end.cores)
    if (const auto before = begin.cores.find(core); before != begin.cores.end())
      load.cores[core] = {times.busy_s - before->second.busy_s, times.steal_s - before->second.steal_s};
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

LoadRecord gather_load(const RankLoad& mine, comm::Communicator& comm)
{
  std::vector<RankLoad> ranks;
  for (const auto& text : comm.gather_texts(text_of(mine))) ranks.push_back(load_of(text));
  return {now_unix_s(), node_loads(ranks)};
}

} // namespace dt::train
