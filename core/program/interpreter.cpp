#include "core/program/interpreter.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include <elf.h>
#include <fmt/format.h>

namespace dt {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Commands that start the program behind them and change nothing about which one it is, except for containers, in which the
// interpreter is asked, too.
constexpr std::array<std::string_view, 16> prefixes{"env",    "nice",    "ionice",    "numactl",     "taskset", "chrt",
                                                    "stdbuf", "timeout", "apptainer", "singularity", "docker",  "podman",
                                                    "ch-run", "shifter", "enroot",    "udocker"};

constexpr std::array<std::string_view, 22> runners{"sh",         "bash", "dash",  "zsh",   "ksh",    "csh",  "tcsh",   "fish",
                                                   "uv",         "uvx",  "conda", "mamba", "pixi",   "make", "poetry", "pipenv",
                                                   "micromamba", "pdm",  "hatch", "rye",   "mpirun", "srun"};

std::string name_of(const std::string& word) { return fs::path(word).filename().string(); }

template<class List> bool has(const List& list, std::string_view name)
{
  return std::find(list.begin(), list.end(), name) != list.end();
}

// "python", "python3", "python3.13t", "pypy3".
bool is_python(const std::string& word)
{
  const auto name = name_of(word);
  std::string_view version = name;
  if (version.starts_with("python"))
    version.remove_prefix(6);
  else if (version.starts_with("pypy"))
    version.remove_prefix(4);
  else
    return false;
  return version.find_first_not_of("0123456789.t") == std::string_view::npos;
}

// Options of Python that decide where it finds packages, or do nothing to that: "-I", "-Es", "-u".
bool is_plain_option(const std::string& word)
{
  return word.size() > 1 && word.front() == '-' && word.find_first_not_of("IEsSPBuOdvqb", 1) == std::string::npos;
}

// Behind the last of the options that follow the interpreter at `at`.
std::size_t end_of_options(const Words& command, std::size_t at)
{
  for (++at; at < command.size() && is_plain_option(command[at]);) ++at;
  return at;
}

// The place of the interpreter; nothing if no word is one.
std::optional<std::size_t> place_of_python(const Words& command)
{
  if (command.empty()) return std::nullopt;
  if (is_python(command.front())) return 0;
  if (!has(prefixes, name_of(command.front()))) return std::nullopt;
  const auto found = std::find_if(command.begin(), command.end(), is_python);
  return found == command.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - command.begin()));
}

// The first two lines of a file, of which at most 4 KiB are read.
std::vector<std::string> first_lines(const fs::path& file)
{
  std::string text(4096, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  auto lines = split(text, '\n');
  lines.resize(2);
  return lines;
}

// The interpreter that the first line of a script names: {"python3"} of "#!/usr/bin/env python3". Where the path is too long for
// the kernel, pip writes a script of sh whose second line is: '''exec' "/long path/python" "$0" "$@"
Words interpreter_of_script(const fs::path& file)
{
  const auto lines = first_lines(file);
  if (constexpr std::string_view mark = "'''exec' "; lines[1].starts_with(mark)) {
    auto rest = lines[1].substr(mark.size());
    const bool is_quoted = rest.starts_with('"');
    if (is_quoted) rest.erase(0, 1);
    return {rest.substr(0, rest.find(is_quoted ? '"' : ' '))};
  }
  Words words;
  for (const auto& word : split(trim(std::string_view(lines[0]).substr(2)), ' '))
    if (!word.empty()) words.push_back(word);
  if (words.empty() || name_of(words.front()) != "env") return words;
  words.erase(words.begin());
  if (!words.empty() && words.front() == "-S") words.erase(words.begin());
  return words;
}

// Programs of 64 bits have these bytes of the header and the entries of the table of segments.
struct NativeHeader {
  bool is_native = false;
  std::uint16_t machine = 0;
  std::string loader; // the program that loads it; empty if it needs none
};

NativeHeader native_header(const fs::path& file)
{
  NativeHeader header;
  std::ifstream stream(file, std::ios::binary);
  Elf64_Ehdr elf{};
  stream.read(reinterpret_cast<char*>(&elf), sizeof elf);
  header.is_native = stream.gcount() >= SELFMAG + 2 && std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0;
  if (!header.is_native || stream.gcount() != sizeof elf) return header;
  header.machine = elf.e_machine; // at the same place in programs of 32 bits
  if (elf.e_ident[EI_CLASS] != ELFCLASS64) return header;
  for (int i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment{};
    stream.seekg(static_cast<std::streamoff>(elf.e_phoff) + i * static_cast<std::streamoff>(sizeof segment));
    if (!stream.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    header.loader.resize(segment.p_filesz);
    stream.seekg(static_cast<std::streamoff>(segment.p_offset));
    stream.read(header.loader.data(), static_cast<std::streamsize>(segment.p_filesz));
    header.loader.resize(std::strlen(header.loader.c_str()));
    break;
  }
  return header;
}

std::string objection_to_native(const fs::path& file, const NativeHeader& header)
{
  static const auto own = native_header("/proc/self/exe").machine;
  if (header.machine != own && header.machine != EM_386)
    return "it is a program for another kind of processor than that of this machine";
  if (!header.loader.empty() && !fs::exists(header.loader))
    return fmt::format("{} needs the loader {}, which does not exist here", file.filename().string(), printable(header.loader));
  return {};
}

// Why what a first line names cannot be started here.
std::string objection_to_interpreter(const fs::path& interpreter, const std::string& argument, const std::string& path_variable)
{
  const auto names = fmt::format("its first line names the interpreter {}, which ", printable(interpreter.string()));
  std::error_code unknown;
  if (!fs::exists(interpreter, unknown)) return names + "does not exist";
  if (interpreter.is_absolute() && find_program(interpreter.string(), {}).empty()) return names + "is not executable";
  if (name_of(interpreter.string()) != "env" || argument.empty()) return {};
  std::vector<std::string> words;
  const bool is_split = argument.starts_with("-S") || argument.starts_with("--split-string");
  for (auto& word : is_split ? split(argument, ' ') : std::vector<std::string>{argument})
    if (!word.empty() && !word.starts_with('-') && word.find('=') == std::string::npos) words.push_back(word);
  if (words.empty() || !find_program(words.front(), path_variable).empty()) return {};
  if (words.front().find(' ') != std::string::npos)
    return fmt::format("its first line lets env look for a program of the name `{0}`; write: #!{1} -S {0}",
                       printable(words.front()), interpreter.string());
  return fmt::format("its first line names the interpreter {}, which is not in PATH", printable(words.front()));
}

// A carriage return is none: the kernel takes it for a part of the name.
std::string_view without_blanks(std::string_view text)
{
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

Interpreter unknown(const std::string& why) { return {.words = {}, .file = {}, .native = {}, .unknown = why}; }

Interpreter at(const Words& command, std::size_t place)
{
  Interpreter found;
  found.words = {command.begin(), command.begin() + static_cast<std::ptrdiff_t>(end_of_options(command, place))};
  if (place > 0) return found;
  found.file = find_installed(command.front());
  if (found.file.empty()) return unknown(fmt::format("there is no program `{}` here", printable(command.front())));
  return found;
}

} // namespace

Words leading_words(const Words& command)
{
  const auto place = place_of_python(command);
  const auto end = place ? end_of_options(command, *place) : std::min<std::size_t>(command.size(), 1);
  return {command.begin(), command.begin() + static_cast<std::ptrdiff_t>(end)};
}

Interpreter find_interpreter(const Words& command)
{
  if (command.empty()) return unknown("the command is empty");
  if (const auto place = place_of_python(command)) return at(command, *place);
  const auto& first = command.front();
  const auto name = printable(name_of(first));
  const bool starts_python = std::any_of(command.begin() + 1, command.end(), is_python);
  if (has(prefixes, name_of(first)) || has(runners, name_of(first)) || starts_python)
    return unknown(fmt::format("`{}` decides which program it starts", name));
  const auto file = find_installed(first);
  if (file.empty()) return unknown(fmt::format("there is no program `{}` here", printable(first)));
  if (!first_lines(file)[0].starts_with("#!")) return {.words = {}, .file = {}, .native = file, .unknown = {}};
  const auto words = interpreter_of_script(file);
  if (!words.empty() && is_python(words.front())) return at(words, 0);
  return unknown(fmt::format("`{}` is a script for `{}`, and which programs it starts is not known", name,
                             words.empty() ? "?" : printable(name_of(words.front()))));
}

std::string objection_to_start(const fs::path& file, const std::optional<std::string>& path_variable)
{
  std::error_code none;
  if (fs::is_directory(file, none)) return "it is a folder";
  if (const auto header = native_header(file); header.is_native)
    return path_variable ? objection_to_native(file, header) : std::string();
  const auto line = first_lines(file)[0];
  if (line.starts_with("\xef\xbb\xbf#!"))
    return "it begins with a byte order mark, so its first line names no interpreter; save it as UTF-8 without the mark";
  if (!line.starts_with("#!")) return {};
  const auto named = without_blanks(std::string_view(line).substr(2));
  const auto end = std::min(named.find_first_of(" \t"), named.size());
  const std::string interpreter(named.substr(0, end)), argument(without_blanks(named.substr(end)));
  if (line.ends_with('\r'))
    return fmt::format(
        "its first line ends with a carriage return, so it names the interpreter {}, which does not exist; save it "
        "with line feeds alone: sed -i 's/\\r$//' {}",
        printable(argument.empty() ? interpreter : interpreter + " " + argument), file.filename().string());
  if (interpreter.empty()) return "its first line names no interpreter behind `#!`";
  return path_variable && fs::path(interpreter).is_absolute() ? objection_to_interpreter(interpreter, argument, *path_variable)
                                                              : "";
}

} // namespace dt
