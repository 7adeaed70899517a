// An HTTP server on this machine's loopback, by civetweb. What it answers is decided by its handler.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

struct mg_context;

namespace dt::cli {

struct HttpRequest {
  std::string method;                            // "GET"
  std::string path;                              // decoded: "/token/study"
  std::map<std::string, std::string> parameters; // of the query string, decoded
  std::map<std::string, std::string> headers;    // names in lower case
  // Empty if the request has none of this name.
  std::string header(const std::string& name) const;
  std::string parameter(const std::string& name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
  std::string version{};                              // becomes the ETag; empty: none
  std::string location{};                             // where to go instead, with status 301
  std::string cache = "no-store";                     // Cache-Control
  std::string security_policy = "default-src 'none'"; // Content-Security-Policy
};

// Called by several threads at the same time. What it throws becomes an answer with status 500.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpServer {
 public:
  // Listens on 127.0.0.1; port 0: any free port. Throws an environment error if the port cannot be had. A request is at most
  // 8 KiB; a client that sends or reads slower than it takes 5 s to get on is disconnected, and sooner if many send nothing
  // (IdleClients).
  HttpServer(int port, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  int port() const { return port_; }

 private:
  struct Served;
  std::unique_ptr<Served> served_;
  mg_context* server_ = nullptr;
  int port_ = 0;
};

} // namespace dt::cli
