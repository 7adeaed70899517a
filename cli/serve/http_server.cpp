#include "cli/serve/http_server.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string_view>
#include <thread>

#include <civetweb.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace dt::cli {
namespace {

// Disconnects clients that occupy the server's threads and send no request.

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

constexpr const char* threads =
    "128"; // clients that are answered at the same time; one that is slow keeps its thread for up to 5 s

std::string decoded(std::string_view text)
{
  std::string plain(text.size() + 1, '\0');
  constexpr int is_form = 1; // `+` is a blank
  const int size =
      mg_url_decode(text.data(), static_cast<int>(text.size()), plain.data(), static_cast<int>(plain.size()), is_form);
  plain.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return plain;
}

std::map<std::string, std::string> parameters_of(const char* query)
{
  std::map<std::string, std::string> parameters;
  if (query == nullptr) return parameters;
  for (const auto& pair : split(query, '&')) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) continue;
    parameters[decoded(std::string_view(pair).substr(0, equals))] = decoded(std::string_view(pair).substr(equals + 1));
  }
  return parameters;
}

HttpRequest request_of(const mg_request_info& info)
{
  HttpRequest request{.method = info.request_method == nullptr ? "" : info.request_method,
                      .path = info.request_uri == nullptr ? "" : info.request_uri,
                      .parameters = parameters_of(info.query_string),
                      .headers = {}};
  for (int i = 0; i < info.num_headers; ++i)
    request.headers.emplace(lower_case(info.http_headers[i].name), info.http_headers[i].value);
  return request;
}

const char* reason_of(int status)
{
  switch (status) {
  case 200:
    return "OK";
  case 301:
    return "Moved Permanently";
  case 304:
    return "Not Modified";
  case 400:
    return "Bad Request";
  case 403:
    return "Forbidden";
  case 404:
    return "Not Found";
  case 405:
    return "Method Not Allowed";
  default:
    return "Internal Server Error";
  }
}

std::string head_of(const HttpResponse& response)
{
  auto head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: {}\r\n"
                          "Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                          "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
                          "Connection: close\r\n",
                          response.status, reason_of(response.status), response.type, response.body.size(), response.cache,
                          response.security_policy);
  if (!response.version.empty()) head += fmt::format("ETag: \"{}\"\r\n", response.version);
  if (!response.location.empty()) head += fmt::format("Location: {}\r\n", response.location);
  return head + "\r\n";
}

HttpResponse handled(const HttpHandler& handler, const HttpRequest& request)
{
  try {
    return handler(request);
  } catch (const std::exception& error) {
    return {.status = 500, .type = "text/plain; charset=utf-8", .body = printable_lines(error.what()) + "\n"};
  }
}

void answer_request(mg_connection* connection, const mg_request_info& info, const HttpHandler& handler)
{
  const auto request = request_of(info);
  const auto response = handled(handler, request);
  const auto head = head_of(response);
  mg_write(connection, head.data(), head.size());
  if (request.method != "HEAD" && response.status != 304) mg_write(connection, response.body.data(), response.body.size());
}

} // namespace

// The data that all threads of the server use.
struct HttpServer::Served {
  HttpHandler handler;
  IdleClients idle_clients{};

  // Called by civetweb, which is written in C: no exception may leave. Returns 1: the request is answered.
  static int answer(mg_connection* connection)
  {
    const auto* info = mg_get_request_info(connection);
    auto& served = *static_cast<Served*>(info->user_data);
    try {
      const auto answering = served.idle_clients.answer_to(info->remote_port);
      answer_request(connection, *info, served.handler);
    } catch (const std::exception&) { // out of memory; the connection is closed without an answer
    }
    return 1;
  }
};

std::string HttpRequest::header(const std::string& name) const
{
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string HttpRequest::parameter(const std::string& name) const
{
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

HttpServer::HttpServer(int port, HttpHandler handler) : served_(new Served{.handler = std::move(handler)})
{
  mg_init_library(0);
  const auto address = "127.0.0.1:" + std::to_string(port);
  const std::array<const char*, 13> options{"listening_ports",
                                            address.c_str(),
                                            "num_threads",
                                            threads,
                                            "request_timeout_ms",
                                            "5000",
                                            "max_request_size",
                                            "8192",
                                            "enable_keep_alive",
                                            "no",
                                            "tcp_nodelay",
                                            "1",
                                            nullptr};
  mg_callbacks callbacks{};
  callbacks.begin_request = Served::answer;
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; }; // a client's fault is no message of dtctl's
  server_ = mg_start(&callbacks, served_.get(), const_cast<const char**>(options.data()));
  mg_server_port ports{};
  if (server_ == nullptr || mg_get_server_ports(server_, 1, &ports) != 1) {
    if (server_ != nullptr) mg_stop(server_);
    mg_exit_library();
    throw Error(ErrorKind::environment, "cannot listen on " + address +
                                            "; another program may use the port. Choose another with "
                                            "--port, or leave the option out for a free one");
  }
  port_ = ports.port;
  served_->idle_clients.watch(port_);
}

HttpServer::~HttpServer()
{
  mg_stop(server_);
  mg_exit_library();
}

} // namespace dt::cli
