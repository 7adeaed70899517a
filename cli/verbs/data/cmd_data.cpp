// dtctl data: the family of verbs for data sets.
#include "cli/data/data_sets.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <fmt/format.h>

namespace dt::cli {
namespace {

// "0.491, 0.491, 0.497"
Cell channels_cell(const std::vector<double>& values)
{
  std::vector<std::string> words;
  for (const auto value : values) words.push_back(fmt::format("{:.4f}", value));
  return {values, join(words, ", "), Style::plain};
}

} // namespace

PackedFacts facts_of(const PackedFile& file) { return {file.path(), file.id(), file.file_bytes(), file.description()}; }

void print_packed(Context& context, const PackedFacts& facts)
{
  const auto& set = facts.description;
  auto& out = context.out;
  out.field("file", "file", text_cell(facts.file.string()));
  out.field("id", "id", text_cell(facts.id));
  out.field("train", "training images", count_cell(set.train_samples));
  out.field("test", "test images", count_cell(set.test_samples));
  out.field("classes", "classes", {set.classes, std::to_string(set.classes.size()), Style::plain});
  out.field("image", "images", text_cell(image_text(set)));
  out.field("bytes", "size", {facts.bytes, format_bytes(static_cast<double>(facts.bytes)), Style::plain});
  out.field("mean", "channel means", channels_cell(set.mean));
  out.field("deviation", "deviations", channels_cell(set.deviation));
  out.field("source", "source", text_cell(printable(set.source)));
  out.field("options", "options", text_cell(printable(set.options)));
  if (context.json || set.skipped > 0) out.field("skipped", "left out", count_cell(set.skipped));
  out.data("encoding", set.encoding == PackedEncoding::jpeg ? "jpeg" : "pixels");
  for (const auto& [name, value] :
       {std::pair("channels", set.channels), std::pair("height", set.height), std::pair("width", set.width),
        std::pair("min_side", set.min_side), std::pair("max_side", set.max_side)})
    out.data(name, value);
}

void add_data(Commands& commands)
{
  auto& family = commands.add_family(
      {"data", write_verbs, "Data sets: make, pack, check, show, list, import, remove.", "Example:\n  dtctl data make digits"});
  add_data_make(commands, family);
  add_data_pack(commands, family);
  add_data_check(commands, family);
  add_data_show(commands, family);
  add_data_list(commands, family);
  add_data_import(commands, family);
  add_data_remove(commands, family);
}

} // namespace dt::cli
