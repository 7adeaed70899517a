#include "recipes/reading/diagnostics.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <tuple>

namespace dt::recipes {
namespace {

std::string lines_of(const std::vector<Diagnostic>& diagnostics)
{
  std::string text;
  for (const auto& diagnostic : diagnostics) text += (text.empty() ? "" : "\n") + to_text(diagnostic);
  return text;
}

bool same(const Diagnostic& a, const Diagnostic& b)
{
  return std::tie(a.line, a.column, a.file, a.message) == std::tie(b.line, b.column, b.file, b.message);
}

// Files are ordered by their first mistake.
void sort_by_place(std::vector<Diagnostic>& diagnostics)
{
  std::vector<std::string> files;
  for (const auto& d : diagnostics)
    if (std::find(files.begin(), files.end(), d.file) == files.end()) files.push_back(d.file);
  const auto place = [&](const Diagnostic& d) {
    return std::tuple(std::find(files.begin(), files.end(), d.file) - files.begin(), d.line, d.column);
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

} // namespace

std::string to_text(const Diagnostic& diagnostic)
{
  std::string text = printable(diagnostic.file);
  if (diagnostic.line > 0) text += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  return text + ": " + diagnostic.message;
}

RecipeError::RecipeError(std::vector<Diagnostic> diagnostics)
    : Error(ErrorKind::recipe, lines_of(diagnostics)), diagnostics_(std::move(diagnostics))
{
}

void Diagnostics::add(const Mark& mark, std::string message)
{
  Diagnostic diagnostic{mark.file ? *mark.file : std::string(), mark.line, mark.column, std::move(message)};
  if (std::any_of(found_.begin(), found_.end(), [&](const Diagnostic& known) { return same(known, diagnostic); })) return;
  if (found_.size() == limit)
    ++left_out_;
  else
    found_.push_back(std::move(diagnostic));
}

void Diagnostics::throw_if_any() const
{
  if (!empty()) throw RecipeError(sorted());
}

std::vector<Diagnostic> Diagnostics::sorted() const
{
  auto sorted = found_;
  sort_by_place(sorted);
  if (left_out_ > 0) sorted.push_back({sorted.back().file, 0, 0, std::to_string(left_out_) + " more mistakes are not shown"});
  return sorted;
}

std::string ticked(std::string_view text)
{
  constexpr std::size_t longest = 80;
  if (text.size() <= longest) return "`" + printable(text) + "`";
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end; // do not cut inside a character
  return "`" + printable(text.substr(0, end)) + "…`";
}

} // namespace dt::recipes
