#include "recipes/reading/network.hpp"

#include "core/text.hpp"
#include "core/units.hpp"

#include <string>
#include <vector>

namespace dt::recipes {
namespace {

// Reads the value of a key. Returns nothing if it cannot be read.
std::optional<double> read_value(const Entry& entry, std::optional<double> (*parse)(std::string_view), const std::string& form,
                                 Diagnostics& diagnostics)
{
  const auto value = entry.value.kind == Node::Kind::scalar ? parse(entry.value.text) : std::nullopt;
  if (!value)
    diagnostics.add(entry.value.mark, ticked("network." + entry.key) + " must be " + form + ", not " + describe(entry.value));
  return value;
}

constexpr const char* a_rate = "a rate such as `1 Gbit/s` or `125 MB/s`";

} // namespace

std::optional<CostModel> read_network(const Node& block, Diagnostics& diagnostics)
{
  static const std::vector<std::string> allowed{"latency", "bandwidth", "reduce"};
  if (block.kind != Node::Kind::map) {
    diagnostics.add(block.mark, "`network` must be a map of keys, not " + describe(block));
    return std::nullopt;
  }
  std::optional<double> latency_s, bandwidth, reduce;
  bool is_complete = true;
  for (const auto& entry : block.entries) {
    if (entry.key == "latency")
      is_complete &= (latency_s = read_value(entry, parse_short_time_s, "a time such as `50us`", diagnostics)).has_value();
    else if (entry.key == "bandwidth")
      is_complete &= (bandwidth = read_value(entry, parse_rate_bytes_per_s, a_rate, diagnostics)).has_value();
    else if (entry.key == "reduce")
      is_complete &= (reduce = read_value(entry, parse_rate_bytes_per_s, a_rate, diagnostics)).has_value();
    else {
      is_complete = false;
      diagnostics.add(entry.mark, "unknown key " + ticked(entry.key) + " in `network`" + advice(entry.key, allowed));
    }
  }
  if (is_complete && (!latency_s || !bandwidth))
    diagnostics.add(block.mark, "`network` needs `latency` (such as `50us`) and `bandwidth` (such as `1 Gbit/s`)");
  if (!latency_s || !bandwidth) return std::nullopt;
  return CostModel{.alpha_s = *latency_s, .beta_s = 1 / *bandwidth, .gamma_s = reduce ? 1 / *reduce : 0};
}

} // namespace dt::recipes
