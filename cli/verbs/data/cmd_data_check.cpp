// dtctl data check: reads a packed set completely and compares it with its hashes.
#include "cli/data/data_sets.hpp"
#include "cli/data/engine_call.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct CheckOptions {
  std::string set, threads;
  bool decode = false;
};

ExitCode check(Context& context, const CheckOptions& options)
{
  const auto path = packed_path(context.home(), options.set);
  std::vector<std::string> words{"check", "--progress", path.string()};
  if (options.decode) words.emplace_back("--decode");
  if (!options.threads.empty()) words.insert(words.end(), {"--threads", options.threads});
  const auto result = ask_engine(context, words, "checking the data set");
  constexpr std::size_t shown = 20;
  Table table{"bad", {{"record", "record", Align::right}, {"name", "image"}, {"cause", "cause"}}, {}, ""};
  for (const auto& record : result.at("bad")) {
    if (!context.json && table.rows.size() == shown) break;
    table.rows.push_back({count_cell(record.at("record")), text_cell(printable(record.at("name").get<std::string>())),
                          text_cell(printable(record.at("cause").get<std::string>()))});
  }
  for (const auto& remark : result.at("remarks")) context.messages.warn("{}", remark.get<std::string>());
  context.out.data("remarks", result.at("remarks"));
  const auto bad = result.at("bad").size();
  if (context.json || bad > 0) context.out.table(table);
  if (bad > shown) context.out.field("", "", text_cell(fmt::format("and {} more", bad - shown)));
  context.out.field("file", "file", text_cell(path.string()));
  context.out.field("records", "images", count_cell(result.at("records")));
  context.out.field(
      "bad_records", "verdict",
      {bad, bad == 0 ? "sound" : counted(bad, "image is", "images are") + " damaged", bad == 0 ? Style::good : Style::bad});
  return bad == 0 ? ExitCode::ok : ExitCode::runs_failed;
}

} // namespace

void add_data_check(Commands& commands, Verb& family)
{
  auto options = std::make_shared<CheckOptions>();
  auto& verb =
      commands.add_under(family,
                         {"check", family_verbs, "Read a packed set and compare every image with the hash it was packed with.",
                          "Exit code 1 if an image is damaged. Images and channels that hold one value only are a "
                          "warning.\n\nExample:\n  dtctl data check flowers"},
                         [options](Context& context) { return check(context, *options); });
  verb.add_option("SET", options->set, "name of a packed set in the home, or its file")->required()->type_name("SET");
  verb.add_flag("--decode", options->decode, "also decode JPEG images, and warn of those that have one colour only");
  verb.add_option("--threads", options->threads, "threads that read (one per core)")->type_name("N")->check(positive_number());
}

} // namespace dt::cli
