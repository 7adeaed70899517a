#include "store/database/lock_holder.hpp"

#include "core/process.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace dt::store {
namespace {

namespace fs = std::filesystem;
using FileId = std::tuple<unsigned, unsigned, std::uint64_t>; // device and inode

// The files on which SQLite and dtctl hold locks.
std::set<FileId> lockable_files(const fs::path& database)
{
  std::set<FileId> files;
  for (const auto* suffix : {"", "-shm", ".lock"}) {
    struct stat status {};
    if (::stat((database.string() + suffix).c_str(), &status) == 0)
      files.emplace(major(status.st_dev), minor(status.st_dev), status.st_ino);
  }
  return files;
}

std::string content_of(const fs::path& file)
{
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Another process with a lock for writing. A line of /proc/locks: "1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 120 120", with "->"
// behind the number if the process waits for it.
std::optional<int> writer_of(const std::set<FileId>& files)
{
  std::istringstream locks(content_of("/proc/locks"));
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, file;
    int pid = 0;
    if (!(words >> number >> kind >> strictness >> access >> pid >> file) || access != "WRITE") continue;
    unsigned device_major = 0, device_minor = 0;
    unsigned long long inode = 0;
    if (std::sscanf(file.c_str(), "%x:%x:%llu", &device_major, &device_minor, &inode) != 3) continue;
    if (pid > 0 && pid != ::getpid() && files.contains({device_major, device_minor, inode})) return pid;
  }
  return std::nullopt;
}

// The words of its command line, as far as they help to recognise it.
std::string command_of(int pid)
{
  constexpr std::size_t longest = 60;
  auto words = split(content_of("/proc/" + std::to_string(pid) + "/cmdline"), '\0');
  if (words.empty() || words.front().empty()) return {};
  words.front() = fs::path(words.front()).filename().string();
  const auto command = without_secrets(std::string_view(join(words, " ")));
  const auto text = trim(command);
  return text.size() > longest ? printable(text.substr(0, longest)) + "…" : printable(text);
}

} // namespace

std::string lock_holder(const fs::path& database)
{
  const auto pid = writer_of(lockable_files(database));
  if (!pid) return "another process";
  const auto command = command_of(*pid);
  return "process " + std::to_string(*pid) + (command.empty() ? "" : " (" + command + ")") +
         (is_stopped(*pid) ? ", which is stopped (kill -CONT " + std::to_string(*pid) + " lets it go on)" : "");
}

} // namespace dt::store
