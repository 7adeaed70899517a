// `dtctl serve` on a home, and clients of its port.
#pragma once

#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"

#include <csignal>
#include <filesystem>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::test {

struct HttpAnswer {
  int status = 0;                             // 0: the connection was closed without an answer
  std::map<std::string, std::string> headers; // names as they were sent
  std::string body;
};

inline HttpAnswer parse_answer(const std::string& text)
{
  HttpAnswer answer;
  const auto end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return answer;
  answer.status = std::stoi(text.substr(9, 3));
  for (auto at = text.find("\r\n") + 2; at < end;) {
    const auto line = text.substr(at, text.find("\r\n", at) - at);
    const auto colon = line.find(": ");
    answer.headers[line.substr(0, colon)] = line.substr(colon + 2);
    at += line.size() + 2;
  }
  answer.body = text.substr(end + 4);
  return answer;
}

// A connection to the port on this machine.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0))
  {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }
  // Returns false when the server has closed the connection.
  bool send(std::string_view text) const
  {
    while (!text.empty()) {
      const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  std::string read_all() const
  {
    std::string text;
    char block[65536];
    for (ssize_t got = 0; (got = ::recv(socket_, block, sizeof block, 0)) > 0;) text.append(block, static_cast<std::size_t>(got));
    return text;
  }
  // Closes with a reset, as a client that dies.
  void reset()
  {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void close()
  {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_ = -1;
};

class Served {
 public:
  Served(const Dtctl& dtctl, const Words& environment, const Words& options = {})
  {
    const auto file = dtctl.folder() / "address";
    auto words = dtctl.command(with({"serve"}, options), environment);
    words.insert(words.begin(), {"sh", "-c", "exec \"$@\" > '" + file.string() + "' 2> '" + file.string() + ".err'", "sh"});
    child_ = start_program(words);
    REQUIRE(eventually([&] { return read_file_if_exists(file).value_or("").ends_with("\n"); }));
    url = read_file(file);
    url.pop_back();
    const auto colon = url.rfind(':');
    port = std::stoi(url.substr(colon + 1));
    path = url.substr(url.find('/', colon));
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { end(SIGKILL); }
  // Sends the signal and returns the exit status as of waitpid; 0 if it has ended before.
  int end(int signal)
  {
    if (child_ <= 0) return 0;
    int status = 0;
    ::kill(child_, signal);
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return status;
  }
  bool is_running() const { return ::kill(child_, 0) == 0; }
  // Asks for the page of this name with more header lines ("Name: value").
  HttpAnswer get(const std::string& page = "", const Words& headers = {}, const std::string& method = "GET") const
  {
    return ask(method, path + page, headers);
  }
  HttpAnswer ask(const std::string& method, const std::string& whole_path, const Words& headers = {}) const
  {
    const Client client(port);
    std::string request = method + " " + whole_path + " HTTP/1.1\r\n";
    bool has_host = false;
    for (const auto& header : headers) {
      request += header + "\r\n";
      has_host = has_host || header.starts_with("Host:");
    }
    if (!has_host) request += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
    client.send(request + "\r\n");
    return parse_answer(client.read_all());
  }

  std::string url;  // "http://127.0.0.1:4711/TOKEN/"
  std::string path; // "/TOKEN/"
  int port = 0;

 private:
  pid_t child_ = 0;
};

// The text as part of a query string.
inline std::string encoded(const std::string& text)
{
  static const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0)
      out += static_cast<char>(c);
    else
      out += {'%', digits[c >> 4], digits[c & 15]};
  }
  return out;
}

} // namespace dt::test
