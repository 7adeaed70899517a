// HTTP requests to one server, made by the program curl.
#pragma once

#include "core/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::cli {

// How requests prove who sends them. The strings never appear on a command line or in a message.
struct Credentials {
  std::string user, password; // HTTP Basic, if both are given
  std::string token;          // HTTP Bearer, otherwise
  bool any() const { return !token.empty() || (!user.empty() && !password.empty()); }
};

struct Request {
  std::string method;      // GET or POST
  std::string path;        // after the server's URL, with the query; percent-encoded
  std::string body{};      // JSON
  bool repeatable = false; // idempotent: sending it twice has the effect of sending it once, so it may be retried
};

struct Answer {
  int status = 0;
  std::string body;
};

// Returns the URL without a slash at its end. A usage error if its scheme is neither http nor https, if it holds a user's name,
// a query or a fragment, or a character that a URL cannot hold.
std::string checked_url(const std::string& url);

// Bytes other than letters, digits and "-._~" as %XX.
std::string percent_encoded(const std::string& text);

class HttpClient {
 public:
  // `url` as checked_url returns it.
  HttpClient(std::string url, Credentials credentials);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();
  // Waits at most 10 s for the connection and 60 s for the answer. A repeatable request is made up to three times while the
  // server is overloaded or fails (408, 429, 5xx). Redirections are not followed. Throws an environment error if there is no
  // answer, one of more than 64 MiB or no program curl; any status is an answer.
  Answer send(const Request& request) const;
  const std::string& url() const { return url_; }

 private:
  std::string configuration(const Request& request) const;
  std::string url_;
  Credentials credentials_;
  std::filesystem::path folder_; // private; for the bodies of requests and answers
};

} // namespace dt::cli
