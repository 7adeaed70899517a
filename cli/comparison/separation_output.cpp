#include "cli/comparison/separation_output.hpp"

#include "cli/output/cell.hpp"
#include "core/text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace dt::cli {

void print_separation(Context& context, const store::Separation& separation)
{
  Json facts = Json::array();
  for (const auto& [name, a, b] : separation.facts) facts.push_back({{"name", name}, {"a", a}, {"b", b}});
  const bool is_known = std::isfinite(separation.apart_s);
  context.out.data("separation", {{"interleaved", separation.is_together},
                                  {"apart_s", is_known ? Json(separation.apart_s) : Json(nullptr)},
                                  {"later", is_known ? Json(separation.a_is_later ? "a" : "b") : Json(nullptr)},
                                  {"facts", std::move(facts)}});
  if (separation.is_together) return;
  context.out.field("", "apart", text_cell(store::time_text(separation), Style::warning));
  for (const auto& [name, a, b] : separation.facts)
    context.out.field("", " ", text_cell(fmt::format("{}: A {}, B {}", name, printable(a), printable(b))));
}

} // namespace dt::cli
