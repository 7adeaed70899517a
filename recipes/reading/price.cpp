#include "recipes/reading/price.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace dt::recipes {
namespace {

// A code such as EUR, or the name of a site's own unit of account.
bool is_currency(const std::string& text)
{
  return !text.empty() && text.size() <= 16 && std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 0x7f; }) &&
         is_valid_utf8(text);
}

} // namespace

std::optional<Price> read_price(const Node& block, Diagnostics& diagnostics)
{
  static const std::vector<std::string> allowed{"node_hour", "currency"};
  if (block.kind != Node::Kind::map) {
    diagnostics.add(block.mark, "`cost` must be a map of keys, not " + describe(block));
    return std::nullopt;
  }
  Price price{.node_hour = std::nan("")};
  bool is_right = true;
  for (const auto& [key, mark, value] : block.entries) {
    const auto text = value.kind == Node::Kind::scalar ? value.text : "";
    if (key == "node_hour") {
      price.node_hour = number_of<double>(text).value_or(-1);
      if (price.node_hour >= 0 && std::isfinite(price.node_hour)) continue;
      diagnostics.add(value.mark, "`cost.node_hour` must be a number of at least 0, such as 0.8, not " + describe(value));
    } else if (key == "currency") {
      price.currency = text;
      if (is_currency(text)) continue;
      diagnostics.add(value.mark, "`cost.currency` must be a word of at most 16 bytes, such as EUR, not " + describe(value));
    } else {
      diagnostics.add(mark, "unknown key " + ticked(key) + " in `cost`" + advice(key, allowed));
    }
    is_right = false;
  }
  if (is_right && std::isnan(price.node_hour)) diagnostics.add(block.mark, "`cost` needs `node_hour`, such as 0.8");
  return is_right && !std::isnan(price.node_hour) ? std::optional(price) : std::nullopt;
}

} // namespace dt::recipes
