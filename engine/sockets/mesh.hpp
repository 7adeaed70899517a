// Mesh: messages between the processes of a training, over a TCP connection between each two of them. A message has a context
// (its group), a tag and a sender; messages with equal ones arrive in the order in which they were sent.
#pragma once

#include "core/files/descriptor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

namespace dt::sockets {

struct Group;

inline constexpr int any_process = -1;

// The head of a message. A receive takes the first message with the context, the tag and the sender that it asks for.
struct Envelope {
  std::uint64_t context = 0;
  std::int32_t tag = 0;
  std::int32_t from = 0; // process
  std::uint64_t bytes = 0;
};

// A message that is sent or received. Its memory must stay valid until it is complete.
struct Request {
  Envelope envelope;
  int peer = 0;                    // the other process; any_process until a message has arrived
  std::span<const std::byte> data; // to be sent
  std::size_t sent = 0;            // bytes of the envelope and the data
  std::span<std::byte> room;       // to be received into
  bool is_complete = false;
  const Group* group = nullptr; // of the caller
};

// A socket that waits for connections of the other processes.
class Listener {
 public:
  // Throws an environment error.
  Listener();
  int port() const { return port_; }
  int descriptor() const { return socket_.get(); }

 private:
  Descriptor socket_;
  int port_ = 0;
};

// Equal on all processes of a training, and secret: who connects must know it.
using Token = std::array<char, 32>;

class Mesh {
 public:
  // Connects this process, number `own` of the addresses ("192.0.2.1:4242"), with all others. Throws an environment error that
  // names who was not reached within a minute. Collective.
  Mesh(int own, const std::vector<std::string>& addresses, const Listener& listener, const Token& token);

  int own() const { return own_; }
  int size() const { return static_cast<int>(peers_.size()); }

  // Both begin a message.
  std::unique_ptr<Request> send(int to, Envelope envelope, std::span<const std::byte> data);
  std::unique_ptr<Request> receive(int from, Envelope envelope, std::span<std::byte> room);
  // Moves messages on without waiting; returns whether this one is complete.
  bool test(const Request& request);
  // Throws a run error if the process that it waits for has ended.
  void wait(const Request& request);

 private:
  // A message that came before anybody asked for it.
  struct Arrived {
    Envelope envelope;
    std::unique_ptr<std::byte[]> data;
    bool is_whole = false;
    Request* taker = nullptr; // who asked while it was arriving
  };
  struct Peer {
    std::optional<Descriptor> socket; // none: this process itself, or the other one has ended
    std::deque<Request*> to_send;
    // The message that is arriving:
    Envelope envelope;
    std::size_t envelope_bytes = 0; // of it that have arrived
    std::byte* place = nullptr;
    std::size_t left = 0;
    Request* request = nullptr; // who gets it; null: `arrived`
    std::list<Arrived>::iterator arrived;
  };

  void meet_all(const std::vector<std::string>& addresses, const Listener& listener, const Token& token);
  bool admit(Descriptor socket, const Token& token);
  void move(int timeout_ms);
  void write_to(Peer& peer);
  void read_from(Peer& peer);
  bool read_some(Peer& peer, void* to, std::size_t bytes, std::size_t& got);
  void begin_message(Peer& peer);
  void end_message(Peer& peer);
  void require_open(const Request& request) const;

  int own_;
  std::vector<Peer> peers_;
  std::vector<pollfd> waits_;  // of move(), by peer
  std::list<Request*> posted_; // receives without a message
  std::list<Arrived> arrived_;
};

} // namespace dt::sockets
