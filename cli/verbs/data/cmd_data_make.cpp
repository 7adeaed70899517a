// dtctl data make: makes data sets by calling dtengine.
#include "cli/data/engine_call.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/files/file.hpp"

#include <memory>

namespace dt::cli {
namespace {

struct MakeOptions {
  std::string kind, out;
  std::int64_t train = 20000, test = 4000, seed = 1;
};

std::vector<std::string> words_for(const MakeOptions& options, const std::filesystem::path& folder)
{
  return {"make",      options.kind,
          "--out",     folder.string(),
          "--train",   std::to_string(options.train),
          "--test",    std::to_string(options.test),
          "--seed",    std::to_string(options.seed),
          "--progress"};
}

ExitCode make(Context& context, const MakeOptions& options)
{
  DataSpec data;
  data.name = options.kind;
  const auto folder = options.out.empty() ? context.home().data_place(data) : std::filesystem::absolute(options.out);
  make_folders(folder.parent_path(), options.out.empty() ? Readers::owner : Readers::everybody);
  const auto said = call_engine(context, words_for(options, folder), "making the data set");
  context.out.field("kind", "data set", text_cell(options.kind, Style::strong));
  context.out.field("folder", "folder", text_cell(folder.string()));
  context.out.field("train", "training images", count_cell(options.train));
  context.out.field("test", "held-out images", count_cell(options.test));
  context.out.field("said", "engine", text_cell(said));
  return ExitCode::ok;
}

} // namespace

void add_data_make(Commands& commands, Verb& family)
{
  auto options = std::make_shared<MakeOptions>();
  auto& verb = commands.add_under(
      family,
      {"make", family_verbs, "Render a data set with labels: digits in MNIST's files, shapes in CIFAR-10's.",
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
