// dtctl data show: the facts of a packed set, its classes, and some of its images.
#include "cli/command/destination.hpp"
#include "cli/data/data_sets.hpp"
#include "cli/data/engine_call.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct ShowOptions {
  std::string set, split, class_name, output;
  std::int64_t count = 16, seed = 1;
};

// Numbers of images by class. Of more than twenty classes, people see the first twenty.
void print_classes(Context& context, const PackedFile& file)
{
  constexpr std::size_t shown = 20;
  const auto& set = file.description();
  std::vector<std::int64_t> train(set.classes.size()), test(set.classes.size());
  for (std::int64_t record = 0; record < file.size(); ++record)
    if (const auto label = file.entry(record).label; label < set.classes.size())
      ++(record < set.train_samples ? train : test)[label];
  Table table{
      "by_class",
      {{"label", "label", Align::right}, {"class", "class"}, {"train", "train", Align::right}, {"test", "test", Align::right}},
      {},
      ""};
  const auto rows = context.json ? set.classes.size() : std::min(shown, set.classes.size());
  for (std::size_t label = 0; label < rows; ++label)
    table.rows.push_back({count_cell(static_cast<std::int64_t>(label)), text_cell(printable(set.classes[label])),
                          count_cell(train[label]), count_cell(test[label])});
  context.out.table(table);
  if (rows < set.classes.size())
    context.out.field("", "more classes", count_cell(static_cast<std::int64_t>(set.classes.size() - rows)));
}

std::vector<std::string> words_for(const Context& context, const ShowOptions& options, const std::filesystem::path& path,
                                   const std::filesystem::path& output)
{
  std::vector<std::string> words{
      "show", path.string(), "--count", std::to_string(options.count), "--seed", std::to_string(options.seed)};
  if (!options.split.empty()) words.insert(words.end(), {"--split", options.split});
  if (!options.class_name.empty()) words.insert(words.end(), {"--class=" + options.class_name});
  if (!output.empty()) words.insert(words.end(), {"--output", std::filesystem::absolute(output).string()});
  constexpr std::size_t usual_columns = 80;
  const auto columns = context.terminal.columns > 0 ? context.terminal.columns : usual_columns;
  words.insert(words.end(), {"--columns", std::to_string(columns)});
  if (context.terminal.colour) words.emplace_back("--colour");
  return words;
}

ExitCode show(Context& context, const ShowOptions& options)
{
  if (options.count > most_shown_samples)
    throw Error(ErrorKind::usage, fmt::format("-n {}: at most {} images can be shown.", options.count, most_shown_samples));
  const auto path = packed_path(context.home(), options.set);
  const PackedFile file(path);
  const Destination destination(context, options.output, ".png");
  const auto result = ask_engine(context, words_for(context, options, path, destination.path()), "showing the data set");
  destination.done();
  print_packed(context, facts_of(file));
  print_classes(context, file);
  context.out.data("samples", result.at("samples"));
  if (options.output.empty())
    context.out.drawing("\n" + result.at("picture").get<std::string>());
  else
    context.out.field("sheet", "picture", text_cell(options.output));
  return ExitCode::ok;
}

} // namespace

void add_data_show(Commands& commands, Verb& family)
{
  auto options = std::make_shared<ShowOptions>();
  auto& verb = commands.add_under(family,
                                  {"show", family_verbs, "Print the facts of a packed set and draw some of its images.",
                                   "The images are drawn in the terminal: in colour if it has colours, else with characters of "
                                   "different brightness. With -o\n"
                                   "they become a PNG with the names of their classes.\n\nExamples:\n  dtctl data show flowers\n"
                                   "  dtctl data show flowers -n 36 --class tulip -o tulips.png"},
                                  [options](Context& context) { return show(context, *options); });
  verb.add_option("SET", options->set, "name of a packed set in the home, or its file")->required()->type_name("SET");
  verb.add_option("-n,--count", options->count, "number of images (16)")->type_name("N")->check(positive_number());
  verb.add_option("--split", options->split, "only images of the training set or of the test set")
      ->type_name("train|test")
      ->one_of({"train", "test"});
  verb.add_option("--class", options->class_name, "only images of this class: its name or its number")->type_name("CLASS");
  verb.add_option("--seed", options->seed, "seed that chooses the images (1)")->type_name("N")->check(non_negative_number());
  verb.add_option("-o,--output", options->output, "write the images into this PNG file; -: to standard output")
      ->type_name("FILE");
}

} // namespace dt::cli
