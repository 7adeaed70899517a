// Which Python interpreter a command of the user's own program starts, as far as the words of the command say so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Exactly one of `words`, `native` and `unknown` is not empty.
struct Interpreter {
  std::vector<std::string> words; // start the interpreter; the options of Python and a script may follow
  std::filesystem::path file;     // of the interpreter; empty behind a command such as numactl or a container
  std::filesystem::path native;   // file of a program that is not a script
  std::string unknown;            // why nothing is known, as a clause
};

// The first words of a command, those that decide which interpreter it starts: "python3 -I" of "python3 -I train.py --lr 0.1".
std::vector<std::string> leading_words(const std::vector<std::string>& command);

// Understands: python3 and python3.11 (by name or path), commands in front of them that only change how they run (env, numactl,
// nice, taskset, containers), and scripts whose first line names Python, such as torchrun. A shell or a runner of environments
// (uv, conda run) decides itself what it starts, so nothing is known. Names are looked up in PATH, relative paths in the current
// folder.
Interpreter find_interpreter(const std::vector<std::string>& command);

// Why the kernel cannot start this file, as a clause: its first line names an interpreter that is not there, or ends with a
// carriage return, or it is a program for another processor. Empty if it can, as far as the file says. `path_variable`: where
// `env` looks for the interpreter; nothing: the file will start on another machine or in a container, and only its own bytes are
// judged.
std::string objection_to_start(const std::filesystem::path& file, const std::optional<std::string>& path_variable);

} // namespace dt
