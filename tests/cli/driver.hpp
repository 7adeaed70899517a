// The real dtctl, with a home, configuration and core locks of its own.
#pragma once

#include "core/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::test {

using Words = std::vector<std::string>;
using Json = nlohmann::ordered_json;

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
  // A file in folder().
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  std::filesystem::path home() const { return folder() / "home"; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  static std::string program();

private:
  Words command(const Words& words, const Words& environment) const;
  TemporaryFolder folder_;
};

// A recipe that trains for a fraction of a second on made-up images, with more lines appended.
std::string tiny_recipe(const std::string& more = "");

} // namespace dt::test
