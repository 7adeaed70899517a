// dtctl data list: the data sets in the home.
#include "cli/data/data_sets.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace dt::cli {
namespace {

Cell optional_count(const std::optional<std::int64_t>& count)
{
  return count ? count_cell(*count) : Cell{nullptr, "-", Style::dim};
}

Cell bytes_cell(const std::optional<std::uint64_t>& bytes)
{
  if (!bytes) return {nullptr, "-", Style::dim};
  return {*bytes, format_bytes(static_cast<double>(*bytes)), Style::plain};
}

ExitCode list(Context& context)
{
  constexpr std::size_t short_id = 12;
  Table table{"sets",
              {{"name", "name"},
               {"kind", "kind"},
               {"train", "train", Align::right},
               {"test", "test", Align::right},
               {"classes", "classes", Align::right},
               {"image", "images", Align::left, 2},
               {"bytes", "size", Align::right},
               {"id", "id", Align::left, 1},
               {"problem", ""}},
              {},
              "no data sets; make one with dtctl data make, or pack your own with dtctl data pack"};
  for (const auto& set : data_sets(context.home())) {
    const auto style = set.kind == "damaged" ? Style::bad : set.kind == "unfinished" ? Style::warning : Style::plain;
    table.rows.push_back({text_cell(printable(set.name), Style::strong),
                          text_cell(printable(set.kind), style),
                          optional_count(set.train),
                          optional_count(set.test),
                          optional_count(set.classes),
                          text_cell(set.image),
                          bytes_cell(set.bytes),
                          {set.id.empty() ? Json(nullptr) : Json(set.id), set.id.substr(0, short_id), Style::dim},
                          data_cell(set.problem)});
    if (!set.problem.empty()) context.messages.warn("{}", set.problem);
  }
  context.out.table(table);
  return ExitCode::ok;
}

} // namespace

void add_data_list(Commands& commands, Verb& family)
{
  commands.add_under(family,
                     {"list", family_verbs, "List the data sets in the home.",
                      "Kinds:\n"
                      "  packed          made by dtctl data pack\n"
                      "  digits, shapes  made by dtctl data make\n"
                      "  folder          files that you put there\n"
                      "  unfinished      dtctl data pack was interrupted; the same call continues it\n"
                      "  damaged         cannot be read\n"
                      "\n"
                      "Example:\n"
                      "  dtctl data list"},
                     list);
}

} // namespace dt::cli
