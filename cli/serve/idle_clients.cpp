#include "cli/serve/idle_clients.hpp"

#include "core/file.hpp"

#include <chrono>
#include <cstdlib>
#include <map>

#include <netinet/in.h>
#include <sys/socket.h>

namespace dt::cli {
namespace {

using AskAddress = int (*)(int, sockaddr*, socklen_t*);

// The port of one end of a connection; 0 if the descriptor is none.
int port_of(int descriptor, AskAddress ask)
{
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (ask(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) return 0;
  return ntohs(address.sin_port);
}

// Whether the client's bytes wait to be read: then its request waits for a thread, and the client is not idle.
bool has_sent(int descriptor)
{
  char byte = 0;
  return ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// This process's connections to `port`: their descriptors, by the client's port.
std::map<int, int> connections_to(int port)
{
  std::map<int, int> connections;
  for (const auto& name : names_in("/proc/self/fd")) {
    const int descriptor = std::atoi(name.c_str());
    if (port_of(descriptor, ::getsockname) != port) continue;
    if (const int client = port_of(descriptor, ::getpeername); client != 0) connections[client] = descriptor;
  }
  return connections;
}

// Returns the clients that are idle now. Closes those that were so before, if they are too many.
std::set<int> close_idle(int port, const std::set<int>& answered, const std::set<int>& idle_before)
{
  std::map<int, int> idle;
  for (const auto& [client, descriptor] : connections_to(port))
    if (!answered.contains(client) && !has_sent(descriptor)) idle.emplace(client, descriptor);
  std::set<int> clients;
  for (const auto& [client, descriptor] : idle) {
    clients.insert(client);
    // Asked again, because the server may have closed it meanwhile and another file may have its number.
    if (idle.size() > IdleClients::most_idle && idle_before.contains(client) && port_of(descriptor, ::getpeername) == client)
      ::shutdown(descriptor, SHUT_RDWR);
  }
  return clients;
}

} // namespace

IdleClients::Answering::Answering(IdleClients& clients, int port) : clients_(clients), port_(port)
{
  const std::lock_guard lock(clients_.mutex_);
  clients_.answered_.insert(port_);
}

IdleClients::Answering::~Answering()
{
  const std::lock_guard lock(clients_.mutex_);
  clients_.answered_.erase(port_);
}

void IdleClients::watch(int port)
{
  thread_ = std::jthread([this, port](const std::stop_token& stop) { look(stop, port); });
}

void IdleClients::look(const std::stop_token& stop, int port)
{
  constexpr std::chrono::milliseconds pause(200);
  std::set<int> idle;
  for (std::unique_lock lock(mutex_); !stop.stop_requested();) {
    stopped_.wait_for(lock, stop, pause, [] { return false; });
    try {
      idle = close_idle(port, answered_, idle);
    } catch (const Error&) { // no descriptor is left to list them; the next look may have one
    }
  }
}

} // namespace dt::cli
