#include "cli/recipe_text/exchange_in_source.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Libraries that exchange, or that distribute a training by themselves, classes, and what a program says that reports its own
// communication.
constexpr std::array<std::string_view, 34> names{"distributed",
                                                 "DistributedDataParallel",
                                                 "FullyShardedDataParallel",
                                                 "fully_shard",
                                                 "FSDP",
                                                 "DDP",
                                                 "init_process_group",
                                                 "c10d",
                                                 "dtctl_sync",
                                                 "communication",
                                                 "mpi4py",
                                                 "libmpi",
                                                 "MPI_Init",
                                                 "horovod",
                                                 "accelerate",
                                                 "Accelerator",
                                                 "deepspeed",
                                                 "lightning",
                                                 "pytorch_lightning",
                                                 "lightning_fabric",
                                                 "transformers",
                                                 "composer",
                                                 "megatron",
                                                 "fairscale",
                                                 "colossalai",
                                                 "torchtitan",
                                                 "hivemind",
                                                 "byteps",
                                                 "bagua",
                                                 "ray",
                                                 "process_count",
                                                 "MultiWorkerMirroredStrategy",
                                                 "socket",
                                                 "zmq"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The names in a line of Python up to a comment. A number sign within a text ends it too early, which does no harm.
std::vector<std::string_view> words_of(std::string_view line)
{
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < line.size();) {
    auto end = begin;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = std::max(end, begin + 1);
  }
  return words;
}

// "a.b" of "import a.b as c, d", "from a.b import c" (which may be the module a.b.c), "from . import c".
std::vector<std::string> imported(const std::string& line)
{
  const std::string_view text = trim(std::string_view(line).substr(0, line.find('#')));
  const auto name_of = [](std::string_view part) { return std::string(trim(part).substr(0, trim(part).find_first_of(" \t("))); };
  std::vector<std::string> modules;
  if (text.starts_with("import ")) {
    for (const auto& part : split(text.substr(7), ',')) modules.push_back(name_of(part));
  } else if (text.starts_with("from ")) {
    const auto middle = text.find(" import ");
    if (middle == std::string_view::npos) return {};
    const auto module = name_of(text.substr(5, middle - 5));
    modules.push_back(module);
    for (const auto& part : split(text.substr(middle + 8), ','))
      modules.push_back((module.empty() ? "" : module + (module.ends_with('.') ? "" : ".")) + name_of(part));
  }
  return modules;
}

// The files that a module may be, seen from the folder of the importing file: itself, or a package.
std::vector<fs::path> files_of(std::string module, fs::path folder)
{
  bool is_relative = module.starts_with('.');
  if (is_relative) module.erase(0, 1);
  for (; module.starts_with('.'); module.erase(0, 1)) folder = folder.parent_path();
  fs::path path = folder;
  std::vector<fs::path> files;
  for (const auto& part : split(module, '.')) {
    if (part.empty()) continue;
    path /= part;
    files.push_back(fs::path(path).concat(".py"));
    files.push_back(path / "__init__.py");
  }
  return files;
}

} // namespace

bool text_names_exchange(std::string_view text)
{
  return std::ranges::any_of(split(text, '\n'), [](const std::string& line) {
    return std::ranges::any_of(words_of(line),
                               [](std::string_view word) { return std::ranges::find(names, word) != names.end(); });
  });
}

bool names_exchange(const fs::path& program)
{
  constexpr std::size_t most_files = 500;
  const auto root = fs::absolute(program).parent_path();
  std::deque<fs::path> next{fs::absolute(program)};
  std::set<fs::path> seen;
  while (!next.empty() && seen.size() < most_files) {
    const auto file = next.front().lexically_normal();
    next.pop_front();
    if (!seen.insert(file).second || !fs::is_regular_file(file)) continue;
    const auto text = text_if_readable(file);
    if (text_names_exchange(text)) return true;
    for (const auto& line : split(text, '\n'))
      for (const auto& module : imported(line))
        for (const auto& folder : {root, file.parent_path()})
          for (auto& found : files_of(module, folder)) next.push_back(std::move(found));
  }
  return false;
}

} // namespace dt::cli
