// dtctl data make: makes data sets by calling dtengine.
#include "cli/output/progress.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

namespace dt::cli {
namespace {

struct MakeOptions {
  std::string kind, out;
  std::int64_t train = 20000, test = 4000, seed = 1;
};

// The engine's message without its name.
std::string without_name(std::string_view message)
{
  constexpr std::string_view name = "dtengine: ";
  message = trim(message);
  if (message.starts_with(name)) message.remove_prefix(name.size());
  return std::string(message);
}

// The numbers of "images DONE ALL"; nothing for other lines.
std::optional<std::pair<std::int64_t, std::int64_t>> counted_images(std::string_view line)
{
  const auto words = split(line, ' ');
  if (words.size() != 3 || words[0] != "images") return std::nullopt;
  const auto number = [](const std::string& word) {
    std::int64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
  };
  return std::pair(number(words[1]), number(words[2]));
}

std::vector<std::string> words_for(const MakeOptions& options, const std::filesystem::path& folder)
{
  return {engine_program().string(),
          "data",
          "make",
          options.kind,
          "--out",
          folder.string(),
          "--train",
          std::to_string(options.train),
          "--test",
          std::to_string(options.test),
          "--seed",
          std::to_string(options.seed),
          "--progress"};
}

// Runs the engine and shows its progress. Returns its last line.
std::string run_maker(Context& context, const std::vector<std::string>& words)
{
  const auto view = make_count_view(context.err_terminal, !context.messages.should_log(spdlog::level::info), "images");
  std::string said;
  const auto result = run_command(words, 0, {}, [&](std::string_view line) {
    if (const auto images = counted_images(line))
      view->show(static_cast<double>(images->first), static_cast<double>(images->second), now_unix_s());
    else
      said = line;
  });
  view->leave();
  if (result.exit_code == static_cast<int>(ExitCode::usage)) throw Error(ErrorKind::usage, without_name(result.err));
  if (!result.ok())
    throw Error(ErrorKind::environment, "making the data set " +
                                            (result.signal != 0 ? "was ended by " + signal_name(result.signal)
                                                                : "failed with exit code " + std::to_string(result.exit_code)) +
                                            ": " + shell_join(words) + "\n" + said + (said.empty() ? "" : "\n") +
                                            std::string(trim(result.err)));
  return said;
}

ExitCode make(Context& context, const MakeOptions& options)
{
  DataSpec data;
  data.name = options.kind;
  const auto folder = options.out.empty() ? context.home().data_folder(data) : std::filesystem::absolute(options.out);
  make_folders(folder.parent_path(), options.out.empty() ? Readers::owner : Readers::everybody);
  const auto said = run_maker(context, words_for(options, folder));
  context.out.field("kind", "data set", text_cell(options.kind, Style::strong));
  context.out.field("folder", "folder", text_cell(folder.string()));
  context.out.field("train", "training images", count_cell(options.train));
  context.out.field("test", "held-out images", count_cell(options.test));
  context.out.field("said", "engine", text_cell(said));
  return ExitCode::ok;
}

} // namespace

void add_data(Commands& commands)
{
  auto options = std::make_shared<MakeOptions>();
  auto& family = commands.add_family({"data", setup_verbs, "Make data sets.", ""});
  auto& verb = commands.add_under(
      family,
      {"make", "Verbs", "Render a data set with labels: digits in MNIST's files, shapes in CIFAR-10's.",
       "The same options give the same bytes. A set that is there already with these options is left as it is; a set with\n"
       "other options, or files that dtctl did not make, are never replaced. Images per second and the remaining time are\n"
       "shown on standard error.\n\nExample:\n  dtctl data make digits"},
      [options](Context& context) { return make(context, *options); });
  verb.add_option("KIND", options->kind, "digits or shapes")
      ->required()
      ->type_name("digits|shapes")
      ->one_of({"digits", "shapes"});
  verb.add_option("--out", options->out, "folder; default: data/KIND in the home, where recipes look")->type_name("FOLDER");
  verb.add_option("--train", options->train, "number of training images (20000)")->type_name("N")->check(positive_number());
  verb.add_option("--test", options->test, "number of held-out images (4000)")->type_name("N")->check(positive_number());
  verb.add_option("--seed", options->seed, "seed of the rendering (1)")->type_name("N")->check(non_negative_number());
}

} // namespace dt::cli
