// Which arrays of a file are images and labels, and in which order their dimensions are.
#include "core/counted.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/array_source.hpp"
#include "engine/data/packing/readers/source_files.hpp"
#include "engine/data/packing/readers/split_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

// The usual names of one set.
constexpr std::array<std::pair<const char*, const char*>, 6> usual{
    {{"images", "labels"}, {"image", "label"}, {"x", "y"}, {"data", "label"}, {"data", "labels"}, {"data", "target"}}};

// The usual pair of arrays of a split, by their names: a group ("train/images") or a word before or behind ("train_images",
// "xTest").
std::optional<ArrayPair> find_split(const std::vector<ArrayInfo>& arrays, Split split)
{
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(arrays, [&](const ArrayInfo& array) {
      const auto read = read_split_name(array.name);
      return read.split == split && read.rest == name;
    });
  };
  for (const auto& [images_name, labels_name] : usual)
    if (const auto images = find(images_name), labels = find(labels_name); images != arrays.end() && labels != arrays.end())
      return ArrayPair{*images, *labels};
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

// What makes labels of these, in NumPy's words; empty if nothing is known.
std::string remedy_of_labels(const ArrayInfo& labels)
{
  const auto name = printable(labels.name);
  if (labels.shape.size() == 2 && labels.shape[1] > 1) return fmt::format(" Save {}.argmax(1), if they are one-hot.", name);
  if (labels.type == "text")
    return fmt::format(" Save numpy.unique({}, return_inverse=True)[1], which numbers the texts in their order.", name);
  if (labels.type.starts_with("float")) return fmt::format(" Save {}.astype('int64').", name);
  return "";
}

void require_labels(const ArrayPair& pair, const SourceOptions& options)
{
  const auto& [images, labels] = pair;
  const bool is_list = labels.shape.size() == 1 || (labels.shape.size() == 2 && labels.shape[1] == 1);
  const auto name = printable(labels.name);
  if (!is_list || !is_integer(labels))
    throw source_error(options.path, fmt::format("{} {}: labels are integers, one for each image: ({},).{}", name,
                                                 shape_text(labels), images.shape[0], remedy_of_labels(labels)));
  if (labels.shape[0] != images.shape[0])
    throw source_error(options.path, fmt::format("{} has {} labels, but {} has {} images.", printable(labels.name),
                                                 labels.shape[0], printable(images.name), images.shape[0]));
}

} // namespace

bool is_integer(const ArrayInfo& array)
{
  return array.type == "bool" || array.type.starts_with("int") || array.type.starts_with("uint");
}

std::uint64_t ArrayInfo::row_bytes() const
{
  std::uint64_t bytes = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::uint64_t>(shape[i]);
  return bytes;
}

std::string unused_arrays(const std::vector<ArrayInfo>& arrays, const std::vector<ArrayPair>& pairs)
{
  auto unused = arrays;
  for (const auto& pair : pairs)
    std::erase_if(unused,
                  [&](const ArrayInfo& array) { return array.name == pair.images.name || array.name == pair.labels.name; });
  if (unused.empty()) return "";
  return fmt::format("{} left out: {}.", counted(unused.size(), "array was", "arrays were"), list_of(unused));
}

std::vector<ArrayPair> find_pairs(const std::vector<ArrayInfo>& arrays, const SourceOptions& options)
{
  if (options.images.empty() != options.labels.empty())
    throw Error(ErrorKind::usage, "--images and --labels belong together: give both names.");
  if (!options.images.empty())
    return {{named(arrays, options.images, "--images", options), named(arrays, options.labels, "--labels", options)}};
  auto train = find_split(arrays, Split::train);
  if (!train) train = find_split(arrays, Split::none);
  if (train) {
    std::vector<ArrayPair> pairs{*train};
    for (const auto split : {Split::test, Split::validation})
      if (auto test = find_split(arrays, split); test && pairs.size() == 1) pairs.push_back(*test);
    return pairs;
  }
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
  if (images.is_fortran)
    refuse(fmt::format("the array is in Fortran's order, in which no image lies in one place. Save numpy.ascontiguousarray({}).",
                       printable(images.name)));
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
