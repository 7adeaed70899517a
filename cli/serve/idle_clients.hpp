// Disconnects clients that occupy the server's threads and send no request.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

namespace dt::cli {

// Every user of the machine can connect to the loopback, and each connection takes one of the server's threads until its request
// is there. If more than `most_idle` connections have sent no request, those that stay so from one look to the next are closed.
class IdleClients {
 public:
  static constexpr std::size_t most_idle = 32; // browsers open a few connections ahead

  // A client whose request is being answered, as long as this object lives.
  class Answering {
   public:
    Answering(IdleClients& clients, int port);
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering();

   private:
    IdleClients& clients_;
    int port_;
  };

  IdleClients() = default;
  IdleClients(const IdleClients&) = delete;
  IdleClients& operator=(const IdleClients&) = delete;
  // Begins to look at the clients of the server with this port on this machine; called once.
  void watch(int port);
  // `port`: the client's.
  Answering answer_to(int port) { return {*this, port}; }

 private:
  void look(const std::stop_token& stop, int port);

  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::set<int> answered_; // ports of clients
  std::jthread thread_;    // last: it uses the other members
};

} // namespace dt::cli
