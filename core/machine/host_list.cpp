#include "core/machine/host_list.hpp"

#include "core/text.hpp"

#include <set>
#include <string_view>
#include <vector>

namespace dt {
namespace {

// A host name split before its final digits; `digits` is empty if the name does not end in digits.
struct NumberedName {
  explicit NumberedName(const std::string& host)
  {
    const auto last = host.find_last_not_of("0123456789");
    const auto length = last == std::string::npos ? 0 : last + 1;
    prefix = host.substr(0, length);
    digits = host.substr(length, host.size() - length);
    if (digits.size() > 9) prefix = host, digits.clear();
  }
  // Whether the other name has the next number, written in the same style.
  bool is_before(const NumberedName& next) const
  {
    if (prefix != next.prefix || digits.empty() || next.digits.empty()) return false;
    const bool alike = digits.size() == next.digits.size() || (digits.front() != '0' && next.digits.front() != '0');
    return alike && std::stoi(digits) + 1 == std::stoi(next.digits);
  }
  std::string prefix, digits;
};

// Names with consecutive numbers.
struct ConsecutiveNames {
  NumberedName first, last;
  std::string numbers() const { return first.digits == last.digits ? first.digits : first.digits + "-" + last.digits; }
};

std::vector<ConsecutiveNames> consecutive_names(std::span<const std::string> hosts)
{
  std::vector<ConsecutiveNames> groups;
  std::set<std::string_view> seen;
  for (const auto& host : hosts) {
    if (!seen.insert(host).second) continue;
    const NumberedName name(host);
    if (!groups.empty() && groups.back().last.is_before(name))
      groups.back().last = name;
    else
      groups.push_back({name, name});
  }
  return groups;
}

} // namespace

std::string compact_hosts(std::span<const std::string> hosts)
{
  const auto groups = consecutive_names(hosts);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < groups.size();) {
    const auto& prefix = groups[i].first.prefix;
    std::vector<std::string> numbers;
    for (; i < groups.size() && groups[i].first.prefix == prefix && !groups[i].first.digits.empty(); ++i)
      numbers.push_back(groups[i].numbers());
    const bool single = numbers.size() == 1 && numbers[0].find('-') == std::string::npos;
    if (numbers.empty())
      parts.push_back(prefix), ++i;
    else
      parts.push_back(prefix + (single ? numbers[0] : "[" + join(numbers, ",") + "]"));
  }
  return join(parts, ",");
}

} // namespace dt
