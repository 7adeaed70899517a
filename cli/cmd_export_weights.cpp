// dtctl export-weights: a checkpoint's tensors as a NumPy .npz, written by the engine's program.
#include "cli/checkpoints.hpp"
#include "cli/selectors.hpp"
#include "cli/verbs.hpp"
#include "core/process.hpp"
#include "core/text.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct WeightsOptions {
  std::string source = "last", output, what = "weights";
  bool force = false, list = false;
};

// A file is named as one; anything else selects a run, of which the checkpoint of most steps is taken.
fs::path checkpoint_of(Context& context, const std::string& source)
{
  if (source.ends_with(".h5")) {
    if (!fs::exists(source)) throw Error(ErrorKind::usage, "there is no file " + printable(source));
    return fs::absolute(source);
  }
  ResultsStore results(context);
  const auto run = select_one(results, {.what = source, .failed = false, .where = ""});
  const auto found = checkpoints_of(results.home().run(run.row.key));
  if (found.empty())
    throw Error(ErrorKind::usage, printable(run.row.name) + " has left no checkpoint. Set train.final_checkpoint: true, or "
                                                            "train.checkpoint_every, and run it again.");
  return found.front().path;
}

std::string run_engine(const WeightsOptions& options, const fs::path& checkpoint)
{
  std::vector<std::string> words{engine_program().string(), "export-weights", checkpoint.string(), "--what", options.what};
  if (options.list)
    words.emplace_back("--list");
  else
    words.insert(words.end(), {"--output", fs::absolute(options.output).string()});
  if (options.force) words.emplace_back("--force");
  const auto result = run_command(words);
  const std::string said(trim(result.err.empty() ? result.out : result.err));
  if (result.ok()) return said;
  if (result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::usage, said);
  throw Error(ErrorKind::environment, fmt::format("exporting failed with exit code {}: {}\n{}", result.exit_code, shell_join(words), said));
}

Table tensor_table(const std::string& lines)
{
  Table table{"tensors", {{"name", "tensor"}, {"shape", "shape"}}, {}};
  for (const auto& line : split(lines, '\n')) {
    const auto tab = line.find('\t');
    if (tab != line.npos) table.rows.push_back({text_cell(std::string(line.substr(0, tab))), text_cell(std::string(line.substr(tab + 1)))});
  }
  return table;
}

ExitCode export_weights(Context& context, const WeightsOptions& options)
{
  if (!options.list && options.output.empty()) throw Error(ErrorKind::usage, "--output names the .npz to write; --list shows what would be in it");
  const auto checkpoint = checkpoint_of(context, options.source);
  const auto said = run_engine(options, checkpoint);
  context.out.field("checkpoint", "checkpoint", text_cell(checkpoint.string()));
  if (options.list) {
    context.out.table(tensor_table(said));
    return ExitCode::ok;
  }
  context.out.field("file", "written to", text_cell(fs::absolute(options.output).string()));
  context.out.field("said", "engine", text_cell(said));
  return ExitCode::ok;
}

} // namespace

void add_export_weights(Commands& commands)
{
  auto options = std::make_shared<WeightsOptions>();
  auto& verb = commands.add(
      {"export-weights", result_verbs, "A run's weights as a NumPy .npz.",
       "Of the run's checkpoint of most steps, or of a checkpoint file. Where the strategy let ranks differ, the weights are its\n"
       "centre, or the mean of the workers'. numpy.load reads the file, and so does train.start_from.\n\n"
       "Example:\n  dtctl export-weights 3f2a -o weights.npz"},
      [options](Context& context) { return export_weights(context, *options); });
  verb.add_option("RUN|FILE.h5", options->source, "a run as other verbs select it (last), or a checkpoint")->type_name("");
  verb.add_option("-o,--output", options->output, "the .npz, whole or not at all")->type_name("FILE");
  verb.add_option("--what", options->what, "weights, or the buffers of optimizer or strategy (weights)")
      ->type_name("weights|optimizer|strategy")
      ->check(CLI::IsMember({"weights", "optimizer", "strategy"}));
  verb.add_flag("--list", options->list, "show names and shapes, and write nothing");
  verb.add_flag("--force", options->force, "replace a file that is there");
}

} // namespace dt::cli
