#include "jobs/program/meeting_point.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "jobs/machine/cores.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

// Below the ports that the kernel gives to outgoing connections (ip_local_port_range).
constexpr int first_port = 20000, ports = 10000;

bool is_free(int port)
{
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return socket.is_open() && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Locks the port for the life of this process and of the program that it becomes.
bool take(int port)
{
  static std::optional<FileLock> kept;
  auto lock = FileLock::try_acquire(CoreLocks::default_folder() / fmt::format("port-{}", port));
  if (!lock || !is_free(port)) return false;
  ::fcntl(lock->descriptor(), F_SETFD, 0); // open across exec
  kept = std::move(lock);
  return true;
}

std::optional<MeetingPoint> read_point(const AttemptFolder& attempt)
{
  const auto words = split(trim(read_file_if_exists(attempt.path_of(AttemptFile::master)).value_or("")), ' ');
  MeetingPoint point;
  if (words.size() != 2) return std::nullopt;
  point.host = words[0];
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), point.port);
  return point.port > 0 ? std::optional(point) : std::nullopt;
}

} // namespace

MeetingPoint choose_meeting_point(const AttemptFolder& attempt, const std::string& host)
{
  const CoreLocks folder(CoreLocks::default_folder()); // makes the folder, which must be the user's
  std::random_device random;
  const int start = static_cast<int>(random() % ports);
  for (int i = 0; i < ports; ++i) {
    const int port = first_port + (start + i) % ports;
    if (!take(port)) continue;
    replace_file(attempt.path_of(AttemptFile::master), fmt::format("{} {}\n", host, port));
    return {host, port};
  }
  throw Error(ErrorKind::environment,
              fmt::format("no port from {} to {} is free on this machine", first_port, first_port + ports - 1));
}

MeetingPoint wait_for_meeting_point(const AttemptFolder& attempt, double patience_s)
{
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
  for (;;) {
    if (const auto point = read_point(attempt)) return *point;
    if (std::chrono::steady_clock::now() > until)
      throw Error(ErrorKind::environment, fmt::format("rank 0 has not chosen a port for {:.0f} s ({})", patience_s,
                                                      attempt.path_of(AttemptFile::master).string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

} // namespace dt::jobs
