// The tensors of a run's checkpoint as a .safetensors or .npz file, by calling dtengine.
#include "cli/export/exports.hpp"

#include "cli/command/destination.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/selectors.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// A name that ends in .safetensors is a file. Anything else selects a run, of which the checkpoint with the largest step is used.
fs::path checkpoint_of(Context& context, const Selector& selector)
{
  const auto& source = selector.what;
  if (source.ends_with(".safetensors")) {
    if (!fs::exists(source)) throw Error(ErrorKind::usage, "there is no file " + printable(source));
    return fs::absolute(source);
  }
  ResultsStore results(context);
  const auto run = select_one(results, selector);
  const auto found = checkpoints_of(results.home().run(run.row.key));
  if (found.empty() && read_planned_run(results.home().run(run.row.key)).spec.is_own_program())
    throw Error(ErrorKind::usage, printable(run.row.name) +
                                      " runs a program of your own, which keeps its weights in its own "
                                      "format. Look for its files in " +
                                      (results.home().run(run.row.key) / "keep").string() + " (DTCTL_KEEP_FOLDER).");
  if (found.empty())
    throw Error(ErrorKind::usage, printable(run.row.name) + " has no checkpoint. Set train.final_checkpoint: true, or "
                                                            "train.checkpoint_every, and run it again.");
  return found.front().path;
}

std::string run_engine(const WeightsChoice& choice, const fs::path& checkpoint, const fs::path& output)
{
  std::vector<std::string> words{engine_program().string(), "export-weights", checkpoint.string(), "--what", choice.what};
  if (choice.list)
    words.emplace_back("--list");
  else
    words.insert(words.end(), {"--output", fs::absolute(output).string()});
  if (choice.force) words.emplace_back("--force");
  const auto result = run_command(words);
  const std::string said(trim(result.err.empty() ? result.out : result.err));
  if (result.ok()) return said;
  if (result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::usage, said);
  throw Error(ErrorKind::environment,
              fmt::format("exporting failed with exit code {}: {}\n{}", result.exit_code, shell_join(words), said));
}

Table tensor_table(const std::string& lines)
{
  Table table{"tensors", {{"name", "tensor"}, {"shape", "shape"}}, {}};
  for (const auto& line : split(lines, '\n')) {
    const auto tab = line.find('\t');
    if (tab != line.npos)
      table.rows.push_back({text_cell(std::string(line.substr(0, tab))), text_cell(std::string(line.substr(tab + 1)))});
  }
  return table;
}

} // namespace

void export_weights(Context& context, const Selector& selector, const std::string& file, const WeightsChoice& choice)
{
  if (!choice.list && file.empty())
    throw Error(ErrorKind::usage,
                "give --output, the .safetensors or .npz file to write, or --list to see what it would contain");
  const auto checkpoint = checkpoint_of(context, selector);
  const Destination destination(context, file, ".safetensors");
  const auto said = run_engine(choice, checkpoint, destination.path());
  destination.done();
  context.out.field("checkpoint", "checkpoint", text_cell(checkpoint.string()));
  if (choice.list) {
    context.out.table(tensor_table(said));
    return;
  }
  context.out.field("file", "written to", text_cell(fs::absolute(file).string()));
  context.out.field("said", "engine", text_cell(said));
}

} // namespace dt::cli
