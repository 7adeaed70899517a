// The real dtctl, with a home, configuration and core locks of its own.
#pragma once

#include "core/machine/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::test {

using Words = std::vector<std::string>;
using Json = nlohmann::ordered_json;

inline Words with(Words words, const Words& more)
{
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Dtctl {
 public:
  Dtctl();
  // Runs `dtctl words…` in folder(), with more environment ("NAME=value") when given. Output is a pipe.
  CommandResult run(const Words& words, const Words& environment = {}) const;
  // The one JSON value of `dtctl words… --json`; fails the test when standard output is anything else.
  Json json(Words words, const Words& environment = {}) const;
  // Everything that appears on a terminal of that width, and nothing else.
  std::string in_terminal(const Words& words, unsigned short columns, const Words& environment = {}) const;
  // Starts `dtctl words…` and does not wait.
  pid_t start(const Words& words, const Words& environment = {}) const;
  // The program and words that do it, from any folder.
  Words command(const Words& words, const Words& environment = {}) const;
  // A file in folder().
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  std::filesystem::path home() const { return folder() / "home"; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  static std::string program();

 private:
  TemporaryFolder folder_;
};

// `dtctl words…` in a terminal that can be resized while it runs. It is killed at the end.
class TerminalSession {
 public:
  TerminalSession(const Dtctl& dtctl, const Words& words, unsigned short columns);
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;
  ~TerminalSession();
  void resize(unsigned short columns) const;
  // Sends keys, as if they were typed: "\003" is Ctrl-C.
  void type(const std::string& keys) const;
  // Reads until this appears in what was read since the last call; false when the program ended before.
  bool read_until(const std::string& what);
  // Everything read so far, without carriage returns.
  const std::string& text() const { return text_; }

 private:
  int terminal_ = -1;
  pid_t child_ = 0;
  std::string text_;
  std::size_t seen_ = 0;
};

// A recipe that trains for a fraction of a second on made-up images, with more lines appended.
std::string tiny_recipe(const std::string& more = "");

} // namespace dt::test
