#include "jobs/program/rank_channels.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"
#include "jobs/program/beside_rank.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

// What the processes of a rank have open.
struct Open {
  std::set<std::string> sockets; // inodes
  std::set<std::string> memory;  // device and inode of memory that others can map
  bool has_device = false;       // of a network that has no sockets
};

struct Connection {
  std::string local, remote, inode;
};

std::vector<std::string> words_of(std::string_view line)
{
  auto words = split(line, ' ');
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

void add_tree(pid_t process, std::vector<pid_t>& tree)
{
  tree.push_back(process);
  const auto folder = fmt::format("/proc/{}/task", process);
  for (const auto& thread : names_in(folder))
    for (const auto& child : split(text_if_readable(fs::path(folder) / thread / "children"), ' '))
      if (!trim(child).empty()) add_tree(std::atoi(child.c_str()), tree);
}

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> beginnings)
{
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// Every process may have these open.
constexpr std::array<std::string_view, 11> usual_devices{"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                                         "/dev/urandom", "/dev/tty",  "/dev/pts/", "/dev/shm/",
                                                         "/dev/nvidia",  "/dev/dri/", "/dev/kfd"};
constexpr std::array<std::string_view, 3> gpu_devices{"/dev/nvidia", "/dev/dri/", "/dev/kfd"};

// Throws if the process cannot be looked into.
void add_descriptors(pid_t process, Open& open)
{
  constexpr std::string_view socket = "socket:[";
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process))) {
    std::error_code gone;
    const auto target = fs::read_symlink(entry.path(), gone).string();
    if (target.starts_with(socket)) open.sockets.insert(target.substr(socket.size(), target.size() - socket.size() - 1));
    if (target.starts_with("/dev/") && !begins_with_one_of(target, usual_devices)) open.has_device = true;
  }
}

void add_memory(pid_t process, Open& open)
{
  for (const auto& line : split(read_file(fmt::format("/proc/{}/maps", process)), '\n')) {
    const auto words = words_of(line); // address, permissions, offset, device, inode, path
    if (words.size() < 5 || !words[1].starts_with("rw") || words[1].back() != 's' || words[4] == "0") continue;
    if (words.size() > 5 && begins_with_one_of(words[5], gpu_devices)) continue;
    open.memory.insert(words[3] + " " + words[4]);
  }
}

Open opened_by(pid_t rank)
{
  std::vector<pid_t> tree;
  add_tree(rank, tree);
  Open open;
  for (const auto process : tree) {
    if (process != rank && !is_there(fmt::format("/proc/{}/fd", process))) continue; // it has just ended
    add_descriptors(process, open);
    add_memory(process, open);
  }
  return open;
}

// Of a table in /proc/PID/net; without sockets that only listen.
std::vector<Connection> connections_in(const fs::path& table)
{
  std::vector<Connection> connections;
  for (const auto& line : split(text_if_readable(table), '\n')) {
    const auto words = words_of(line); // number, local, remote, state, …, inode
    constexpr std::string_view listens = "0A";
    if (words.size() > 9 && words[1].find(':') != std::string::npos && words[3] != listens)
      connections.push_back({words[1], words[2], words[9]});
  }
  return connections;
}

bool is_of_web_server(const std::string& address)
{
  const auto port = address.substr(address.find(':') + 1);
  return port == "01BB" || port == "0050"; // 443, 80
}

// The ranks' connections: to each other, within a rank, or elsewhere.
Exchange by_connections(const std::vector<Connection>& connections, const std::vector<Open>& ranks)
{
  const auto rank_of = [&](const std::string& inode) {
    return std::ranges::find_if(ranks, [&](const Open& rank) { return rank.sockets.contains(inode); });
  };
  std::map<std::pair<std::string, std::string>, std::string> inodes;
  for (const auto& [local, remote, inode] : connections) inodes[{local, remote}] = inode;
  auto seen = Exchange::none;
  for (const auto& [local, remote, inode] : connections) {
    const auto own = rank_of(inode);
    if (own == ranks.end()) continue;
    const auto other_end = inodes.find({remote, local});
    const auto other = other_end == inodes.end() ? ranks.end() : rank_of(other_end->second);
    if (other != ranks.end() && other != own) return Exchange::some;
    if (other == ranks.end() && !is_of_web_server(remote)) seen = Exchange::unknown;
  }
  return seen;
}

// Whether a rank has accepted a connection by a path, whose other end is not told.
bool has_named_connection(const fs::path& table, const std::vector<Open>& ranks)
{
  return std::ranges::any_of(split(text_if_readable(table), '\n'), [&](const std::string& line) {
    const auto words = words_of(line); // number, references, protocol, flags, type, state, inode, path
    return words.size() > 7 && words[5] == "03" &&
           std::ranges::any_of(ranks, [&](const Open& rank) { return rank.sockets.contains(words[6]); });
  });
}

// Of a process that is gone, or that nobody has waited for yet, the program is not told.
bool has_ended(pid_t process)
{
  std::error_code error;
  const auto program = fs::read_symlink(fmt::format("/proc/{}/exe", process), error);
  if (!program.empty()) return false;
  return error == std::errc::no_such_file_or_directory || error == std::errc::no_such_process;
}

bool share_memory(const std::vector<Open>& ranks)
{
  std::set<std::string> all;
  for (const auto& rank : ranks)
    for (const auto& memory : rank.memory)
      if (!all.insert(memory).second) return true;
  return false;
}

} // namespace

std::optional<Exchange> channels_between(std::span<const pid_t> ranks)
{
  std::vector<Open> opened;
  bool is_readable = true;
  try {
    for (const auto rank : ranks) opened.push_back(opened_by(rank));
  } catch (const std::exception&) { // it has just ended, or belongs to another user
    is_readable = false;
  }
  if (std::ranges::any_of(ranks, has_ended)) return std::nullopt;
  if (!is_readable) return Exchange::unknown;
  if (share_memory(opened)) return Exchange::some;
  const fs::path net = fmt::format("/proc/{}/net", ranks.front());
  const bool leads_elsewhere = std::ranges::any_of(opened, &Open::has_device) || has_named_connection(net / "unix", opened);
  auto seen = leads_elsewhere ? Exchange::unknown : Exchange::none;
  for (const auto* table : {"tcp", "tcp6", "udp", "udp6"}) {
    const auto by_table = by_connections(connections_in(net / table), opened);
    if (by_table == Exchange::some) return by_table;
    if (by_table == Exchange::unknown) seen = by_table;
  }
  return seen;
}

void RankChannels::look(bool is_training)
{
  const double now_s = monotonic_s();
  if (first_s_ == 0) first_s_ = now_s;
  if (has_channel_ || (looks_ >= 2 && now_s < next_s_)) return;
  const auto seen = channels_between(ranks_);
  if (!seen) return;
  has_channel_ = seen == Exchange::some;
  if (is_training) {
    ++looks_;
    has_other_ = has_other_ || seen == Exchange::unknown;
  }
  next_s_ = now_s + std::clamp((now_s - first_s_) / 10, 0.2, 5.0);
}

Exchange RankChannels::seen() const
{
  if (has_channel_) return Exchange::some;
  return looks_ >= 2 && !has_other_ ? Exchange::none : Exchange::unknown;
}

} // namespace dt::jobs
