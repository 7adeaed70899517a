// Which arrays of a file are images and labels, and in which order their dimensions are.
#include "core/text.hpp"
#include "engine/data/packing/readers/array_source.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

struct Names {
  std::string images, labels;
};

// The usual names of one set.
constexpr std::array<std::pair<const char*, const char*>, 6> usual{
    {{"images", "labels"}, {"image", "label"}, {"x", "y"}, {"data", "label"}, {"data", "labels"}, {"data", "target"}}};
constexpr std::array test_words{"test", "val", "valid", "validation"};

const ArrayInfo* find(const std::vector<ArrayInfo>& arrays, const std::string& name)
{
  const auto found = std::ranges::find_if(arrays, [&](const ArrayInfo& array) { return lower_case(array.name) == name; });
  return found == arrays.end() ? nullptr : &*found;
}

std::optional<ArrayPair> find_pair(const std::vector<ArrayInfo>& arrays, const Names& names)
{
  const auto *images = find(arrays, names.images), *labels = find(arrays, names.labels);
  if (images == nullptr || labels == nullptr) return std::nullopt;
  return ArrayPair{*images, *labels};
}

// The names of a split's arrays: a group ("train/images") or a word before or behind ("train_images", "x_train").
std::vector<Names> split_names(std::string_view split)
{
  std::vector<Names> names;
  for (const auto& [images, labels] : usual)
    for (const auto* pattern : {"{0}/{1}", "{0}_{1}", "{1}_{0}"})
      names.push_back({fmt::format(fmt::runtime(pattern), split, images), fmt::format(fmt::runtime(pattern), split, labels)});
  return names;
}

std::optional<ArrayPair> find_split(const std::vector<ArrayInfo>& arrays, std::string_view split)
{
  for (const auto& names : split_names(split))
    if (auto pair = find_pair(arrays, names)) return pair;
  return std::nullopt;
}

std::string shape_text(const ArrayInfo& array)
{
  return fmt::format("({}{}) {}", fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "", array.type);
}

std::string list_of(const std::vector<ArrayInfo>& arrays)
{
  constexpr std::size_t listed = 8;
  std::vector<std::string> words;
  for (const auto& array : arrays)
    if (words.size() < listed) words.push_back(printable(array.name) + " " + shape_text(array));
  if (words.empty()) return "no arrays";
  return fmt::format("{}{}", fmt::join(words, ", "),
                     arrays.size() > listed ? fmt::format(" and {} more", arrays.size() - listed) : "");
}

const ArrayInfo& named(const std::vector<ArrayInfo>& arrays, const std::string& name, const char* option,
                       const SourceOptions& options)
{
  const auto found = std::ranges::find(arrays, name, &ArrayInfo::name);
  if (found != arrays.end()) return *found;
  throw source_error(options.path,
                     fmt::format("{} {}: there is no such array. The file has {}.", option, printable(name), list_of(arrays)));
}

bool is_colour_count(std::int64_t dimension) { return dimension == 1 || dimension == 3; }

bool channels_come_first(const ArrayInfo& images, const SourceOptions& options)
{
  if (!options.layout.empty()) return options.layout == "nchw";
  const bool first = is_colour_count(images.shape[1]), last = is_colour_count(images.shape[3]);
  if (first && last)
    throw source_error(options.path,
                       fmt::format("{} {}: the channels may be the second or the last dimension. Say which with --layout "
                                   "nchw or --layout nhwc.",
                                   printable(images.name), shape_text(images)));
  return first;
}

void require_labels(const ArrayPair& pair, const SourceOptions& options)
{
  const auto& [images, labels] = pair;
  const bool is_list = labels.shape.size() == 1 || (labels.shape.size() == 2 && labels.shape[1] == 1);
  if (!is_list || !is_integer(labels))
    throw source_error(options.path, fmt::format("{} {}: labels are integers, one for each image: ({},).", printable(labels.name),
                                                 shape_text(labels), images.shape[0]));
  if (labels.shape[0] != images.shape[0])
    throw source_error(options.path, fmt::format("{} has {} labels, but {} has {} images.", printable(labels.name),
                                                 labels.shape[0], printable(images.name), images.shape[0]));
}

} // namespace

bool is_integer(const ArrayInfo& array) { return array.type.starts_with("int") || array.type.starts_with("uint"); }

std::uint64_t ArrayInfo::row_bytes() const
{
  std::uint64_t bytes = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::uint64_t>(shape[i]);
  return bytes;
}

std::vector<ArrayPair> find_pairs(const std::vector<ArrayInfo>& arrays, const SourceOptions& options)
{
  if (options.images.empty() != options.labels.empty())
    throw Error(ErrorKind::usage, "--images and --labels belong together: give both names.");
  if (!options.images.empty())
    return {{named(arrays, options.images, "--images", options), named(arrays, options.labels, "--labels", options)}};
  if (auto train = find_split(arrays, "train")) {
    std::vector<ArrayPair> pairs{*train};
    for (const auto* word : test_words)
      if (auto test = find_split(arrays, word); test && pairs.size() == 1) pairs.push_back(*test);
    return pairs;
  }
  for (const auto& [images, labels] : usual)
    if (auto pair = find_pair(arrays, {images, labels})) return {*pair};
  throw source_error(options.path,
                     fmt::format("no images and labels with the usual names (images and labels, x and y, data and label, "
                                 "train_images and train_labels, …). The file has {}. Name them with --images and --labels.",
                                 list_of(arrays)));
}

ArrayLayout layout_of(const ArrayPair& pair, const SourceOptions& options)
{
  const auto& images = pair.images;
  const auto refuse = [&](std::string_view cause) {
    throw source_error(options.path, fmt::format("{} {}: {}", printable(images.name), shape_text(images), cause));
  };
  if (images.type != "uint8") refuse("images are unsigned bytes (uint8).");
  if (images.shape.size() != 3 && images.shape.size() != 4)
    refuse("images are (N, height, width), (N, height, width, channels) or (N, channels, height, width).");
  constexpr std::int64_t most_images = 100'000'000;
  if (images.shape[0] == 0) refuse("there are no images.");
  if (images.shape[0] > most_images) refuse(fmt::format("there are more than {} images.", most_images));
  require_labels(pair, options);
  const auto& shape = images.shape;
  ArrayLayout layout{shape[1], shape[2], 1, false};
  if (shape.size() == 4 && channels_come_first(images, options))
    layout = {shape[2], shape[3], shape[1], true};
  else if (shape.size() == 4)
    layout.channels = shape[3];
  if (!is_colour_count(layout.channels)) refuse("there are neither 1 nor 3 channels.");
  constexpr std::int64_t longest = 65536, most_pixels = std::int64_t{1} << 27;
  if (layout.height < 1 || layout.width < 1 || layout.height > longest || layout.width > longest ||
      layout.height * layout.width > most_pixels)
    refuse("no image has this size.");
  return layout;
}

} // namespace dt::data
