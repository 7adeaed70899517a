#include "jobs/slurm/access/watch.hpp"

#include <cerrno>
#include <memory>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dt::jobs::slurm {
namespace {

// Whether the connection that was started on this socket is refused. Waits at most one second.
bool was_refused(int socket)
{
  pollfd waiting{socket, POLLOUT, 0};
  if (poll(&waiting, 1, 1000) <= 0) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == ECONNREFUSED;
}

bool refuses(const addrinfo& address)
{
  const int socket = ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (socket < 0) return false;
  const bool done = connect(socket, address.ai_addr, address.ai_addrlen) == 0;
  const bool refused = !done && (errno == ECONNREFUSED || (errno == EINPROGRESS && was_refused(socket)));
  close(socket);
  return refused;
}

} // namespace

bool refuses_connections(const std::string& host, std::uint16_t port)
{
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const auto* address = found; address != nullptr; address = address->ai_next)
    if (!refuses(*address)) return false;
  return true;
}

} // namespace dt::jobs::slurm
