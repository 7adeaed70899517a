// Starting processes that nobody waits for, and finding those of a home.
#pragma once

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "tests/support/processes.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace dt::faults {

// Starts a program without input and output, and returns at once.
inline pid_t start(const std::vector<std::string>& words)
{
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int null = ::open("/dev/null", O_RDWR);
  for (int stream : {0, 1, 2}) ::dup2(null, stream);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

// Processes whose program is named so and whose command line or environment speaks of this folder; `word` is in the command line.
inline std::vector<pid_t> find_processes(const std::string& program, const std::string& folder, const std::string& word)
{
  namespace fs = std::filesystem;
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    try {
      const auto command = read_file(entry.path() / "cmdline");
      if (fs::path(command.substr(0, command.find('\0'))).filename() != program) continue;
      const auto environment = read_file(entry.path() / "environ");
      const bool here = command.find(folder) != std::string::npos || environment.find(folder) != std::string::npos;
      if (here && command.find(word) != std::string::npos) found.push_back(std::stoi(name));
    } catch (const Error&) { // it has just ended
    }
  }
  return found;
}

using test::without_children;

} // namespace dt::faults
