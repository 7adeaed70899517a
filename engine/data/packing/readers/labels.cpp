#include "engine/data/packing/readers/labels.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace dt::data {
std::vector<std::string> label_items(std::vector<SourceItem>& items, std::span<const std::int64_t> numbers)
{
  std::int64_t largest = -1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= most_classes)
      throw Error(ErrorKind::usage,
                  fmt::format("{} has the label {}; labels are numbers from 0 to the number of classes - 1, below {}.",
                              printable(items[i].name), numbers[i], most_classes));
    items[i].label = static_cast<std::uint32_t>(numbers[i]);
    largest = std::max(largest, numbers[i]);
  }
  return numbered_classes(largest + 1);
}

std::vector<std::string> label_items(std::vector<SourceItem>& items, const std::vector<std::string>& texts)
{
  std::vector<std::int64_t> numbers;
  for (const auto& text : texts)
    if (const auto number = number_of<std::int64_t>(text)) numbers.push_back(*number);
  if (numbers.size() == texts.size()) return label_items(items, numbers);
  auto classes = texts;
  std::ranges::sort(classes);
  classes.erase(std::ranges::unique(classes).begin(), classes.end());
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].label = static_cast<std::uint32_t>(std::ranges::lower_bound(classes, texts[i]) - classes.begin());
  return classes;
}

} // namespace dt::data
