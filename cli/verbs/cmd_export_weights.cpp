// dtctl export-weights: writes a checkpoint's tensors as a .safetensors or .npz file by calling dtengine.
#include "cli/command/destination.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/paths.hpp"
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

// A name that ends in .safetensors is a file. Anything else selects a run, of which the checkpoint with the largest step is used.
fs::path checkpoint_of(Context& context, const std::string& source)
{
  if (source.ends_with(".safetensors")) {
    if (!fs::exists(source)) throw Error(ErrorKind::usage, "there is no file " + printable(source));
    return fs::absolute(source);
  }
  ResultsStore results(context);
  const auto run = select_one(results, {.what = source, .failed = false, .where = ""});
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

std::string run_engine(const WeightsOptions& options, const fs::path& checkpoint, const fs::path& output)
{
  std::vector<std::string> words{engine_program().string(), "export-weights", checkpoint.string(), "--what", options.what};
  if (options.list)
    words.emplace_back("--list");
  else
    words.insert(words.end(), {"--output", fs::absolute(output).string()});
  if (options.force) words.emplace_back("--force");
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

ExitCode export_weights(Context& context, const WeightsOptions& options)
{
  if (!options.list && options.output.empty())
    throw Error(ErrorKind::usage,
                "give --output, the .safetensors or .npz file to write, or --list to see what it would contain");
  const auto checkpoint = checkpoint_of(context, options.source);
  const Destination destination(context, options.output, ".safetensors");
  const auto said = run_engine(options, checkpoint, destination.path());
  destination.done();
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
      {"export-weights", keep_verbs, "Export the weights of a run as a .safetensors or NumPy .npz file.",
       "The weights come from the last checkpoint of the run, or from a checkpoint file. If the strategy lets ranks\n"
       "differ, they are its centre or the mean of the workers. The ending of --output chooses the format: .safetensors for\n"
       "Python's package of that name, .npz for numpy.load. train.start_from reads both.\n\n"
       "Example:\n  dtctl export-weights 3f2a -o weights.safetensors"},
      [options](Context& context) { return export_weights(context, *options); });
  verb.add_option("RUN|FILE.safetensors", options->source, "a run (default: last), or the path of a checkpoint")->type_name("");
  verb.add_option("-o,--output", options->output, "the .safetensors or .npz file to write; -: standard output, as safetensors")
      ->type_name("FILE");
  verb.add_option("--what", options->what, "weights, or the buffers of the optimizer or the strategy (weights)")
      ->type_name("weights|optimizer|strategy")
      ->one_of({"weights", "optimizer", "strategy"});
  verb.add_flag("--list", options->list, "print names and shapes, and write nothing");
  verb.add_flag("--force", options->force, "replace an existing file");
}

} // namespace dt::cli
