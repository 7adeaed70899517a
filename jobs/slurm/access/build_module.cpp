#include "jobs/slurm/access/build_module.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/home/home.hpp"
#include "core/paths.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "jobs/slurm/access/slurm_commands.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::jobs::slurm {
namespace {

namespace fs = std::filesystem;

Error cannot_build(const std::string& why) { return {ErrorKind::environment, "The module for Slurm cannot be built: " + why}; }

fs::path prefix_of(const ModuleBuild& build)
{
  if (!build.prefix.empty()) return build.prefix;
  const auto scontrol = find_installed("scontrol");
  std::error_code error;
  return scontrol.empty() ? fs::path("/usr") : fs::canonical(scontrol, error).parent_path().parent_path();
}

fs::path headers_below(const fs::path& prefix)
{
  std::error_code error;
  if (fs::exists(prefix / "include" / "slurm" / "slurm.h", error)) return prefix / "include";
  throw cannot_build(
      fmt::format("{} does not exist. Ask the administrators for Slurm's headers (slurm-devel, libslurm-dev), or name "
                  "the folder of Slurm's installation with --prefix. Without the module dtctl uses Slurm's commands.",
                  (prefix / "include" / "slurm" / "slurm.h").string()));
}

// The folder of libslurm.so. Distributions have a folder for each kind of processor.
fs::path library_below(const fs::path& prefix)
{
  std::error_code error;
  for (const auto* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
    if (fs::exists(prefix / folder / "libslurm.so", error)) return prefix / folder;
  throw cannot_build(fmt::format(
      "there is no libslurm.so in lib64 or lib of {}; name the folder of Slurm's installation with --prefix.", prefix.string()));
}

std::vector<std::string> compiler_words(const std::string& compiler, const fs::path& prefix, const fs::path& sources,
                                        const fs::path& file)
{
  const auto libraries = library_below(prefix).string();
  std::vector<std::string> words{compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-pthread"};
  words.push_back(fmt::format("-DDTCTL_SLURM_API=\"{}\"", DTCTL_SLURM_API));
  words.insert(words.end(), {"-I", sources.string(), "-idirafter", headers_below(prefix).string()});
  for (const auto* name : {"module.cpp", "array_tasks.cpp", "site_facts.cpp", "watch.cpp"})
    words.push_back((sources / "jobs" / "slurm" / "access" / name).string());
  words.insert(words.end(), {"-o", file.string(), "-L", libraries, "-Wl,-rpath," + libraries, "-lslurm"});
  return words;
}

// In a process of its own, because a program that has loaded one libslurm should not load a second one.
std::string release_in(const std::string& compiler, const fs::path& prefix)
{
  const auto answer = run_command({compiler, "-E", "-P", "-x", "c++", "-idirafter", headers_below(prefix).string(), "-"}, 60,
                                  "#include <" // in two parts, because this file itself does not include it (scripts/check-house)
                                  "slurm/slurm_version.h>\nSLURM_VERSION_NUMBER\n");
  const auto number = std::strtoul(std::string(trim(last_line(answer.out))).c_str(), nullptr, 16);
  if (!answer.ok() || number == 0)
    throw cannot_build("its headers do not tell their release (slurm/slurm_version.h): " + answer.err);
  return fmt::format("{:02}.{:02}", number >> 16, number >> 8 & 0xff);
}

void compile_module(const std::string& compiler, const fs::path& prefix, const fs::path& file)
{
  const auto sources = slurm_module_sources();
  if (sources.empty()) throw cannot_build("its sources (share/dtctl/slurm) are not installed with this dtctl.");
  const auto words = compiler_words(compiler, prefix, sources, file);
  try {
    const auto result = run_command(words);
    if (!result.ok())
      throw cannot_build(fmt::format("`{}` failed with exit code {}:\n{}", shell_join(words), result.exit_code, result.err));
  } catch (const SystemError& error) {
    throw cannot_build(fmt::format("{}; name a compiler of C++20 with --compiler.", error.what()));
  }
}

} // namespace

fs::path built_module() { return Home::from_environment().root() / "modules" / "libdtctl_slurm.so"; }

BuiltModule build_slurm_module(const ModuleBuild& build)
{
  const auto prefix = prefix_of(build);
  headers_below(prefix);
  if (find_installed(build.compiler).empty())
    throw cannot_build(fmt::format("there is no compiler {} in PATH; name one of C++20 with --compiler.", build.compiler));
  const auto release = release_in(build.compiler, prefix), commands = release_of_commands();
  if (!commands.empty() && commands != release)
    throw cannot_build(
        fmt::format("the headers in {} are of Slurm {}, and the commands in PATH of {}.", prefix.string(), release, commands));
  const auto file = built_module();
  make_folders(file.parent_path());
  const auto part = file.parent_path() / fmt::format(".{}.{}", file.filename().string(), ::getpid());
  compile_module(build.compiler, prefix, part);
  fs::rename(part, file);
  return {file, release};
}

} // namespace dt::jobs::slurm
