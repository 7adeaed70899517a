#include "core/program/environment.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "core/machine/process.hpp"
#include "core/program/interpreter.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt {
namespace {

namespace fs = std::filesystem;

constexpr double patience_s = 30; // for an interpreter on a slow file system; the other ranks wait meanwhile
constexpr std::string_view id_fact = "python_environment";

// Prints one line of JSON. Runs under Python 3.4 and later. Reads the headers of the packages itself, because the parser of
// importlib.metadata takes milliseconds for each. Relative entries of PYTHONPATH are the program's own files, whose content is
// known better.
constexpr const char* question = R"py(
import json, os, platform, re, sys, sysconfig
own = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and not os.path.isabs(p)]
path = [p for p in sys.path if p and os.path.abspath(p) not in own]
def read(*parts):
    try:
        with open(os.path.join(*parts), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
def header(text, name):
    found = re.search("(?mi)^%s: *(.+?) *$" % name, text.split("\n\n", 1)[0])
    return found.group(1) if found else ""
def installed(entry):
    try:
        from importlib import metadata
        return [(d.read_text("METADATA") or d.read_text("PKG-INFO") or d.read_text("") or "", d.read_text("direct_url.json"))
                for d in metadata.distributions(path=[entry])]
    except ImportError:
        names = os.listdir(entry) if os.path.isdir(entry) else []
        return [(read(entry, n, "METADATA") or read(entry, n, "PKG-INFO") or read(entry, n), "")
                for n in names if n.endswith((".dist-info", ".egg-info"))]
def commit(text):
    found = re.search('"commit_id": *"([0-9a-f]+)"', text or "")
    return " @ " + found.group(1) if found else ""
packages = {}
for entry in path:
    here = {}
    for text, origin in installed(entry):
        name, version = header(text, "Name"), header(text, "Version")
        if name:
            here.setdefault(re.sub("[-_.]+", "-", name).lower(), set()).add(version + commit(origin))
    for name, versions in here.items():
        packages.setdefault(name, ", ".join(sorted(versions)))
conda = os.path.join(sys.prefix, "conda-meta")
conda_packages = sorted(n[:-5] for n in os.listdir(conda) if n.endswith(".json")) if os.path.isdir(conda) else []
def library(name): # of NVIDIA: a wheel "nvidia-cudnn-cu12", or conda's "cudnn-8.9.2.26-cuda12_0"
    wheels = [v for n, v in sorted(packages.items()) if n.startswith("nvidia-%s-cu" % name)]
    return (wheels + [n.rsplit("-", 2)[1] for n in conda_packages if n.rsplit("-", 2)[0] == name] + [""])[0]
facts = {}
if "torch" in packages:
    facts["torch"] = packages["torch"]
    for entry in path:
        cuda = re.search(r"(?m)^(cuda|hip)\b[^=\n]*= *'([^']+)'", read(entry, "torch", "version.py"))
        if cuda:
            facts[cuda.group(1)] = cuda.group(2)
            break
for name in ("cudnn", "nccl"):
    version = library(name)
    if version or "cuda" in facts:
        facts[name] = version or "unknown: a part of torch"
try:
    import site
    sites = site.getsitepackages() + [site.getusersitepackages()]
except Exception:
    sites = []
prefix = os.path.dirname(os.path.dirname(sys.executable or ""))
watched = path + sites + [os.path.realpath(sys.executable), os.path.join(prefix, "pyvenv.cfg"), conda]
identity = {"schema": 1, "implementation": platform.python_implementation(), "python": platform.python_version(),
            "abi": getattr(sys, "abiflags", ""), "packages": packages, "conda": conda_packages, "cuda": facts.get("cuda", "")}
print("\n" + json.dumps({"identity": identity, "facts": facts, "program": sys.executable, "build": sys.version,
                         "watched": sorted(set(watched))}))
)py";

// Size and time of the last change of a file or folder; {-1, 0} if there is none.
std::pair<std::int64_t, std::int64_t> stamp_of(const fs::path& path)
{
  struct ::stat status {};
  if (::stat(path.c_str(), &status) != 0) return {-1, 0};
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

nlohmann::json stamps_of(const nlohmann::json& watched)
{
  nlohmann::json stamps = nlohmann::json::array();
  for (const auto& path : watched) {
    const auto [size, time_ns] = stamp_of(path.get<std::string>());
    stamps.push_back({path, size, time_ns});
  }
  return stamps;
}

// Whether nothing has changed within the last seconds. A second change in the same tick of a file system's clock would leave no
// trace.
bool are_settled(const nlohmann::json& stamps)
{
  constexpr std::int64_t tick_ns = 2'000'000'000;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return std::all_of(stamps.begin(), stamps.end(),
                     [&](const nlohmann::json& stamp) { return stamp[2].get<std::int64_t>() < now_ns - tick_ns; });
}

bool is_binary(const fs::path& file)
{
  std::string magic(4, '\0');
  std::ifstream(file, std::ios::binary).read(magic.data(), 4);
  return magic == "\177ELF";
}

// The file of the last answer to the same question. Nothing if the interpreter is a script, as pyenv's, which may choose another
// one every time.
std::optional<fs::path> answer_file(const Interpreter& interpreter, const fs::path& environments)
{
  if (interpreter.file.empty() || !is_binary(interpreter.file)) return std::nullopt;
  std::set<std::string> variables; // those that decide where Python looks for packages
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const std::string_view text(*entry); text.starts_with("PYTHON") || text.starts_with("HOME=")) variables.emplace(text);
  std::string text = question;
  for (const auto& word : interpreter.words) (text += word) += '\0';
  text += fs::absolute(interpreter.file).string();
  for (const auto& variable : variables) (text += '\0') += variable;
  return environments / ("asked-" + hash_hex(text));
}

template<class Work> void try_to(Work work)
{
  try {
    work();
  } catch (const Error&) { // what is kept is only there to be quicker next time
  }
}

std::optional<nlohmann::json> kept_answer(const std::optional<fs::path>& file)
{
  std::optional<std::string> text;
  if (file) try_to([&] { text = read_file_if_exists(*file); });
  const auto kept = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!kept.is_object() || !kept.contains("stamps") || stamps_of(kept["answer"]["watched"]) != kept["stamps"])
    return std::nullopt;
  return kept["answer"];
}

// Returns the answer, or why there is none.
std::pair<nlohmann::json, std::string> ask(const Interpreter& interpreter)
{
  auto words = interpreter.words;
  words.insert(words.end(), {"-c", question});
  const auto name = printable(interpreter.words.front());
  try {
    const auto result = run_command(words, patience_s);
    if (result.timed_out) return {{}, fmt::format("`{}` did not answer within {:.0f} s", name, patience_s)};
    auto answer = nlohmann::json::parse(last_line(result.out), nullptr, false);
    if (result.ok() && answer.is_object() && answer.contains("identity")) return {std::move(answer), {}};
    const auto why = result.err.empty() ? fmt::format("exit code {}", result.exit_code) : printable(last_line(result.err));
    return {{}, fmt::format("`{}` cannot be asked: {}", name, why)};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string listed_packages(const nlohmann::json& identity, std::string_view id)
{
  return fmt::format("{}, listed in environments/{}.json of the home", identity["packages"].size(), id);
}

ProgramEnvironment described(const nlohmann::json& answer, const fs::path& environments)
{
  const auto& identity = answer["identity"];
  const auto text = identity.dump(1) + "\n";
  ProgramEnvironment found;
  found.id = hash_hex(text);
  keep_file(environments / (found.id + ".json"), text);
  found.facts = {{"python", identity["implementation"].get<std::string>() + " " + identity["python"].get<std::string>()},
                 {"python_build", printable(answer["build"].get<std::string>())},
                 {"python_program", answer["program"]},
                 {std::string(id_fact), found.id},
                 {"packages", listed_packages(identity, found.id)}};
  for (const auto& [name, version] : answer["facts"].items()) found.facts[name] = version;
  return found;
}

ProgramEnvironment native_program(const fs::path& file)
{
  ProgramEnvironment found{.id = {}, .unknown = {}, .facts = {{"program_file", fs::absolute(file).string()}}};
  try_to([&] { found.facts["program_hash"] = hash_hex(read_file(file)); });
  return found;
}

struct Version {
  std::string version, package; // EnvironmentChange::package
};

// No object if the file cannot be read.
nlohmann::json kept_identity(const fs::path& environments, std::string_view id)
{
  std::optional<std::string> text;
  try_to([&] { text = read_file_if_exists(environments / (std::string(id) + ".json")); });
  return text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
}

// What identifies a kept environment, by its name in messages. Empty if the file cannot be read.
std::map<std::string, Version> versions_in(const fs::path& environments, std::string_view id)
{
  auto json = kept_identity(environments, id);
  std::map<std::string, Version> versions;
  if (!json.is_object()) return versions;
  versions["Python"] = {json.value("implementation", "") + " " + json.value("python", "") + json.value("abi", ""), ""};
  if (const auto cuda = json.value("cuda", ""); !cuda.empty()) versions["CUDA of torch"] = {cuda, ""};
  for (const auto& [name, version] : json["packages"].items()) versions[name] = {version.get<std::string>(), name};
  for (const auto& entry : json["conda"]) { // "numpy-1.26.4-py311h64a7726_0"
    const auto file = entry.get<std::string>();
    const auto name = file.substr(0, file.rfind('-', file.rfind('-') - 1));
    versions["conda's " + file] = {"present", json["packages"].contains(name) ? name : ""};
  }
  return versions;
}

// The packages of `asked` that the program uses, or why that is not known.
std::pair<std::set<std::string>, std::string> ask_imports(const std::vector<std::string>& command,
                                                          const std::set<std::string>& asked)
{
  const auto interpreter = find_interpreter(command);
  if (interpreter.words.empty()) return {{}, "the command starts no Python"};
  const auto as_json = [](const nlohmann::json& value) {
    return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); // words of a command may be any bytes
  };
  auto words = interpreter.words;
  words.insert(words.end(), {(report_modules() / "dtctl_imports.py").string(), as_json(command), as_json(asked)});
  try {
    const auto result = run_command(words, patience_s);
    if (result.timed_out) return {{}, fmt::format("its files could not be read within {:.0f} s", patience_s)};
    const auto answer = nlohmann::json::parse(last_line(result.out), nullptr, false);
    if (!result.ok() || !answer.is_object()) return {{}, "its files cannot be read: " + printable(last_line(result.err))};
    if (answer.contains("unknown")) return {{}, printable(answer["unknown"].get<std::string>())};
    return {answer.at("packages").get<std::set<std::string>>(), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

} // namespace

ProgramEnvironment unknown_environment(const std::string& why)
{
  return {.id = {}, .unknown = why, .facts = {{std::string(id_fact), "unknown: " + why}}};
}

ProgramEnvironment describe_program(const std::vector<std::string>& command, const fs::path& environments)
{
  const auto interpreter = find_interpreter(command);
  if (!interpreter.unknown.empty()) return unknown_environment(interpreter.unknown);
  if (!interpreter.native.empty()) return native_program(interpreter.native);
  const auto file = answer_file(interpreter, environments);
  if (const auto kept = kept_answer(file)) return described(*kept, environments);
  const auto [answer, why] = ask(interpreter);
  if (!why.empty()) return unknown_environment(why);
  if (const auto stamps = stamps_of(answer["watched"]); file && are_settled(stamps))
    keep_file(*file, nlohmann::json{{"answer", answer}, {"stamps", stamps}}.dump() + "\n");
  return described(answer, environments);
}

void set_environment(std::map<std::string, std::string>& facts, const fs::path& environments, const std::string& id)
{
  const auto identity = kept_identity(environments, id);
  if (!identity.is_object()) return;
  facts[std::string(id_fact)] = id;
  facts["packages"] = listed_packages(identity, id);
}

std::vector<EnvironmentChange> environment_changes(const fs::path& environments, std::string_view before, std::string_view now)
{
  const auto old_versions = versions_in(environments, before), new_versions = versions_in(environments, now);
  if (old_versions.empty() || new_versions.empty()) return {};
  std::map<std::string, std::string> packages; // by name in the lists
  for (const auto* versions : {&old_versions, &new_versions})
    for (const auto& [name, entry] : *versions) packages[name] = entry.package;
  std::vector<EnvironmentChange> changes;
  const auto version_of = [](const auto& versions, const std::string& name) {
    return versions.contains(name) ? printable(versions.at(name).version) : "missing";
  };
  for (const auto& [name, package] : packages)
    if (const auto a = version_of(old_versions, name), b = version_of(new_versions, name); a != b)
      changes.push_back({fmt::format("{} {}, now {}", printable(name), a, b), package});
  return changes;
}

std::vector<std::string> texts_of(const std::vector<EnvironmentChange>& changes, std::size_t most)
{
  std::vector<std::string> lines;
  for (const auto& change : changes)
    if (lines.size() < most) lines.push_back(change.text);
  if (changes.size() > most) lines.push_back(fmt::format("and {} more", changes.size() - most));
  return lines;
}

ChangesInUse changes_in_use(const std::vector<std::string>& command, const std::vector<EnvironmentChange>& changes)
{
  std::set<std::string> asked;
  for (const auto& change : changes)
    if (!change.package.empty()) asked.insert(change.package);
  const auto [answer, why] = ask_imports(command, asked);
  if (!why.empty()) return {.used = changes, .unused = {}, .unknown = why};
  ChangesInUse found;
  for (const auto& change : changes) {
    const bool is_used = change.package.empty() || answer.contains(change.package);
    (is_used ? found.used : found.unused).push_back(change);
  }
  return found;
}

} // namespace dt
