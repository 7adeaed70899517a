#include "engine/sockets/mesh.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace dt::sockets {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds longest_meeting{60}, longest_greeting{5};
// A rank looks so long without sleeping: most messages of an exchange follow one another closely.
constexpr std::chrono::microseconds looking{30};

// The first bytes that a process sends on a connection that it has opened.
struct Greeting {
  Token token;
  std::int32_t from;
};

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(errno)));
}

void set_time_limit(int socket, std::chrono::seconds limit)
{
  const timeval time{.tv_sec = limit.count(), .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

// A connection to HOST:PORT; nothing if there is none.
std::optional<Descriptor> connected(const std::string& address)
{
  const auto colon = address.rfind(':');
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (colon == std::string::npos ||
      ::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return std::nullopt;
  }
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.is_open()) set_time_limit(socket.get(), longest_meeting);
  const bool is_connected = socket.is_open() && ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0;
  const int cause = errno;
  ::freeaddrinfo(found);
  errno = cause;
  if (!is_connected) return std::nullopt;
  return socket;
}

bool fits(const Request& request, const Envelope& envelope)
{
  return request.envelope.context == envelope.context && request.envelope.tag == envelope.tag &&
         (request.peer == any_process || request.peer == envelope.from);
}

void require_room(const Request& request, const Envelope& envelope)
{
  if (envelope.bytes > request.room.size())
    throw Error(ErrorKind::internal, fmt::format("a message of {} bytes from rank {} for {} bytes", envelope.bytes, envelope.from,
                                                 request.room.size()));
}

void complete(Request& request, const Envelope& envelope)
{
  request.envelope = envelope;
  request.peer = envelope.from;
  request.is_complete = true;
}

// Gives a whole message to the one who asked for it.
void deliver(Request& request, const Envelope& envelope, const std::byte* data)
{
  require_room(request, envelope);
  std::copy_n(data, envelope.bytes, request.room.data());
  complete(request, envelope);
}

} // namespace

Listener::Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof(address);
  auto* name = reinterpret_cast<sockaddr*>(&address);
  if (!socket_.is_open() || ::bind(socket_.get(), name, length) != 0 || ::listen(socket_.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket_.get(), name, &length) != 0)
    refuse("no connections of other ranks can be taken");
  port_ = ntohs(address.sin_port);
}

Mesh::Mesh(int own, const std::vector<std::string>& addresses, const Listener& listener, const Token& token)
    : own_(own), peers_(addresses.size())
{
  meet_all(addresses, listener, token);
  for (auto& peer : peers_) {
    if (!peer.socket) continue;
    set_time_limit(peer.socket->get(), std::chrono::seconds(0));
    constexpr int on = 1;
    ::setsockopt(peer.socket->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
}

// Connects to the processes with smaller numbers, and takes the connections of the others.
void Mesh::meet_all(const std::vector<std::string>& addresses, const Listener& listener, const Token& token)
{
  for (int other = 0; other < own_; ++other) {
    auto& peer = peers_[static_cast<std::size_t>(other)];
    if (auto socket = connected(addresses[static_cast<std::size_t>(other)])) peer.socket.emplace(std::move(*socket));
    const Greeting greeting{token, own_};
    if (!peer.socket || ::send(peer.socket->get(), &greeting, sizeof(greeting), MSG_NOSIGNAL) != sizeof(greeting))
      refuse(fmt::format("rank {} cannot reach rank {} at {}", own_, other, addresses[static_cast<std::size_t>(other)]));
  }
  const auto end = Clock::now() + longest_meeting;
  for (int missing = size() - own_ - 1; missing > 0;) {
    pollfd waits{listener.descriptor(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 || ::poll(&waits, 1, static_cast<int>(left)) == 0)
      throw Error(ErrorKind::environment,
                  fmt::format("rank {} waited {} s for {} of the {} ranks, which did not connect to {}", own_,
                              longest_meeting.count(), missing, size(), addresses[static_cast<std::size_t>(own_)]));
    if (admit(Descriptor(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC)), token)) --missing;
  }
}

// Whether it is one of the other processes; a stranger is ignored.
bool Mesh::admit(Descriptor socket, const Token& token)
{
  if (!socket.is_open()) return false;
  set_time_limit(socket.get(), longest_greeting);
  Greeting greeting{};
  if (::recv(socket.get(), &greeting, sizeof(greeting), MSG_WAITALL) != sizeof(greeting) || greeting.token != token) return false;
  if (greeting.from <= own_ || greeting.from >= size()) return false;
  auto& peer = peers_[static_cast<std::size_t>(greeting.from)];
  if (peer.socket) return false;
  peer.socket.emplace(std::move(socket));
  return true;
}

std::unique_ptr<Request> Mesh::send(int to, Envelope envelope, std::span<const std::byte> data)
{
  envelope.from = own_;
  envelope.bytes = data.size();
  auto request = std::make_unique<Request>(Request{.envelope = envelope, .peer = to, .data = data, .room = {}});
  if (to == own_) {
    const auto taker = std::ranges::find_if(posted_, [&](const Request* posted) { return fits(*posted, envelope); });
    if (taker != posted_.end()) {
      auto* found = *taker;
      posted_.erase(taker);
      deliver(*found, envelope, data.data());
    } else {
      auto copy = std::make_unique_for_overwrite<std::byte[]>(data.size());
      std::ranges::copy(data, copy.get());
      arrived_.push_back({envelope, std::move(copy), true, nullptr});
    }
    request->is_complete = true;
    return request;
  }
  auto& peer = peers_[static_cast<std::size_t>(to)];
  peer.to_send.push_back(request.get());
  write_to(peer);
  return request;
}

std::unique_ptr<Request> Mesh::receive(int from, Envelope envelope, std::span<std::byte> room)
{
  auto request = std::make_unique<Request>(Request{.envelope = envelope, .peer = from, .data = {}, .room = room});
  const auto found = std::ranges::find_if(
      arrived_, [&](const Arrived& arrived) { return arrived.taker == nullptr && fits(*request, arrived.envelope); });
  if (found == arrived_.end()) {
    posted_.push_back(request.get());
  } else if (!found->is_whole) {
    found->taker = request.get();
    request->peer = found->envelope.from;
  } else {
    deliver(*request, found->envelope, found->data.get());
    arrived_.erase(found);
  }
  return request;
}

bool Mesh::test(const Request& request)
{
  if (!request.is_complete) move(0);
  if (!request.is_complete) require_open(request);
  return request.is_complete;
}

void Mesh::wait(const Request& request)
{
  const auto end = Clock::now() + looking;
  while (!test(request))
    if (Clock::now() > end) move(1000);
}

// Sends and receives what it can without waiting. If there is nothing, waits until there is, at most for this time.
void Mesh::move(int timeout_ms)
{
  constexpr int nobody = -1; // poll ignores it
  waits_.clear();
  for (const auto& peer : peers_)
    waits_.push_back(
        {peer.socket ? peer.socket->get() : nobody, static_cast<short>(peer.to_send.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  if (::poll(waits_.data(), waits_.size(), timeout_ms) <= 0) return;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    if ((waits_[i].revents & POLLOUT) != 0) write_to(peers_[i]);
    if ((waits_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(peers_[i]);
  }
}

void Mesh::write_to(Peer& peer)
{
  constexpr std::size_t head = sizeof(Envelope);
  while (!peer.to_send.empty() && peer.socket) {
    auto& request = *peer.to_send.front();
    const auto in_head = std::min(request.sent, head), in_data = request.sent - in_head;
    std::array parts{iovec{reinterpret_cast<std::byte*>(&request.envelope) + in_head, head - in_head},
                     iovec{const_cast<std::byte*>(request.data.data()) + in_data, request.data.size() - in_data}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const auto written = ::sendmsg(peer.socket->get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno != EAGAIN && errno != EINTR) peer.socket.reset();
    if (written < 0) return;
    request.sent += static_cast<std::size_t>(written);
    if (request.sent < head + request.data.size()) continue;
    request.is_complete = true;
    peer.to_send.pop_front();
  }
}

// Adds the bytes that it could read to `got`. False: there are none now.
bool Mesh::read_some(Peer& peer, void* to, std::size_t bytes, std::size_t& got)
{
  const auto count = ::recv(peer.socket->get(), to, bytes, MSG_DONTWAIT);
  if (count > 0) got += static_cast<std::size_t>(count);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) peer.socket.reset();
  return count > 0;
}

void Mesh::read_from(Peer& peer)
{
  while (peer.socket) {
    if (peer.envelope_bytes < sizeof(Envelope)) {
      auto* head = reinterpret_cast<std::byte*>(&peer.envelope);
      if (!read_some(peer, head + peer.envelope_bytes, sizeof(Envelope) - peer.envelope_bytes, peer.envelope_bytes)) return;
      if (peer.envelope_bytes < sizeof(Envelope)) continue;
      begin_message(peer);
    }
    std::size_t got = 0;
    if (peer.left > 0 && !read_some(peer, peer.place, peer.left, got)) return;
    peer.place += got;
    peer.left -= got;
    if (peer.left == 0) end_message(peer);
  }
}

void Mesh::begin_message(Peer& peer)
{
  const auto& envelope = peer.envelope;
  peer.left = envelope.bytes;
  const auto posted = std::ranges::find_if(posted_, [&](const Request* each) { return fits(*each, envelope); });
  if (posted != posted_.end()) {
    peer.request = *posted;
    posted_.erase(posted);
    peer.request->peer = envelope.from;
    require_room(*peer.request, envelope);
    peer.place = peer.request->room.data();
    return;
  }
  peer.request = nullptr;
  arrived_.push_back({envelope, std::make_unique_for_overwrite<std::byte[]>(envelope.bytes), false, nullptr});
  peer.arrived = std::prev(arrived_.end());
  peer.place = peer.arrived->data.get();
}

void Mesh::end_message(Peer& peer)
{
  peer.envelope_bytes = 0;
  if (peer.request != nullptr) {
    complete(*peer.request, peer.envelope);
  } else if (peer.arrived->taker != nullptr) {
    deliver(*peer.arrived->taker, peer.envelope, peer.arrived->data.get());
    arrived_.erase(peer.arrived);
  } else {
    peer.arrived->is_whole = true;
  }
}

void Mesh::require_open(const Request& request) const
{
  const auto is_gone = [&](int process) { return process != own_ && !peers_[static_cast<std::size_t>(process)].socket; };
  bool gone = request.peer != any_process && is_gone(request.peer);
  if (request.peer == any_process) {
    gone = size() > 1;
    for (int process = 0; process < size(); ++process) gone = gone && (process == own_ || is_gone(process));
  }
  if (gone)
    throw Error(ErrorKind::run,
                fmt::format("{} has ended while rank {} exchanges with it",
                            request.peer == any_process ? "every other rank" : fmt::format("rank {}", request.peer), own_));
}

} // namespace dt::sockets
