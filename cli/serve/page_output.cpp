#include "cli/serve/page_output.hpp"

namespace dt::cli {

void PageOutput::field(const std::string&, const std::string& label, const Cell& cell)
{
  if (label.empty() || cell.text.empty()) return;
  page_.paragraph(label + ": " + cell.text, cell.style == Style::warning || cell.style == Style::bad ? "doubt" : "");
}

void PageOutput::table(const Table& table)
{
  page_.table(without_empty_columns(table), table.name + "-" + std::to_string(++tables_));
}

void PageOutput::block(const std::string&, std::string_view text)
{
  if (!text.empty()) page_.preformatted(text);
}

} // namespace dt::cli
