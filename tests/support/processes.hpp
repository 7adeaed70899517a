// The processes of a test: who has which command line, and who is whose child.
#pragma once

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

namespace dt::test {

// Parent of a process; 0 when it has just ended.
inline pid_t parent_of(pid_t process)
{
  try {
    const auto stat = read_file("/proc/" + std::to_string(process) + "/stat");
    return std::stoi(split(stat.substr(stat.rfind(')') + 2), ' ').at(1));
  } catch (const Error&) {
    return 0;
  }
}

// Starts the program of these words and does not wait for it. `prepare` is called in the child.
inline pid_t start_program(
    std::vector<std::string> words, const std::function<void()>& prepare = [] {})
{
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  prepare();
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

// Living processes whose command lines end with these words.
inline std::vector<pid_t> processes_with_words(const std::vector<std::string>& words)
{
  std::string wanted;
  for (const auto& word : words) wanted += word + '\0';
  std::vector<pid_t> found;
  for (const auto& name : names_in("/proc")) {
    const auto pid = static_cast<pid_t>(std::atoi(name.c_str()));
    if (pid > 0 && text_if_readable("/proc/" + name + "/cmdline").ends_with(wanted) && identify_process(pid))
      found.push_back(pid);
  }
  return found;
}

// Those whose parent is not among them: a child has its parent's command line until it has become another program.
inline std::vector<pid_t> without_children(const std::vector<pid_t>& processes)
{
  std::vector<pid_t> parents;
  for (const pid_t one : processes)
    if (std::find(processes.begin(), processes.end(), parent_of(one)) == processes.end()) parents.push_back(one);
  return parents;
}

} // namespace dt::test
