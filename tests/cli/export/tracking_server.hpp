// A tracking server of a test's own: tests/support/mlflow_server.py in a process that is ended with the object.
#pragma once

#include "core/file.hpp"
#include "tests/cli/driver.hpp"

#include <csignal>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace dt::test {

class TrackingServer {
 public:
  // `state`: the file of what the server holds. A server that is started with the file of an earlier one goes on with it.
  explicit TrackingServer(std::filesystem::path state, const Words& options = {}) : state_(std::move(state))
  {
    auto words = with({"/usr/bin/python3", DTCTL_SOURCE_DIR "/tests/support/mlflow_server.py", state_.string()}, options);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) port_ += c; // waits until the server listens
    ::close(ends[0]);
    REQUIRE_FALSE(port_.empty());
  }
  TrackingServer(const TrackingServer&) = delete;
  TrackingServer& operator=(const TrackingServer&) = delete;
  ~TrackingServer() { end(); }
  // Nobody listens at url() afterwards.
  void end()
  {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  std::string url() const { return "http://127.0.0.1:" + port_; }
  Json state() const { return Json::parse(read_file(state_)); }

 private:
  std::filesystem::path state_;
  std::string port_;
  pid_t child_ = 0;
};

} // namespace dt::test
