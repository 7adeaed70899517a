// MNIST and digits: data sets in IDX, MNIST's file format: a big-endian header (magic 0x00 0x00 type dimensions, then a 32-bit
// size per dimension), then bytes.
#include "engine/data/sources/byte_source.hpp"
#include "engine/data/sources/data_sets.hpp"
#include "engine/data/sources/file_bytes.hpp"
#include "engine/data/sources/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_side = 4096; // prevents an overflow of count x height x width; a larger side means a damaged header

// An IDX file of unsigned bytes: the sizes of its dimensions and its bytes.
struct Idx {
  fs::path path;
  std::vector<std::int64_t> sizes;
  std::string bytes; // with the header
  std::size_t header_bytes() const { return 4 + 4 * sizes.size(); }
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes.data()) + header_bytes(); }
};

std::uint32_t big_endian(std::string_view bytes, std::size_t at)
{
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

void check_header(const Idx& idx, std::size_t dimensions)
{
  const std::size_t header = 4 + 4 * dimensions;
  if (idx.bytes.size() < header)
    throw file_error(idx.path,
                     fmt::format("{} bytes, too short for an IDX header of {} bytes. Fetch it again.", idx.bytes.size(), header));
  const std::uint32_t magic = big_endian(idx.bytes, 0);
  const auto type = magic >> 8, found = magic & 0xff;
  if (magic >> 16 != 0)
    throw file_error(idx.path,
                     fmt::format("magic number 0x{:08x}, expected 0x{:08x}: not an IDX file.", magic, 0x800u + dimensions));
  if (type != 8) throw file_error(idx.path, fmt::format("values of IDX type 0x{:02x}, expected 0x08 (unsigned bytes).", type));
  if (found != dimensions)
    throw file_error(idx.path, fmt::format("{} dimensions, expected {}. Are images and labels exchanged?", found, dimensions));
}

// File size according to the header, with the header. Throws an error for impossible sizes.
std::int64_t promised_bytes(const Idx& idx)
{
  std::int64_t bytes = 1;
  for (std::size_t i = 0; i < idx.sizes.size(); ++i) {
    const auto size = idx.sizes[i];
    if (size == 0) throw file_error(idx.path, fmt::format("dimension {} is 0: it holds nothing.", i + 1));
    if (i > 0 && size > max_side)
      throw file_error(idx.path, fmt::format("dimension {} is {}, expected at most {}.", i + 1, size, max_side));
    bytes *= size;
  }
  return bytes + static_cast<std::int64_t>(idx.header_bytes());
}

Idx read_idx(const fs::path& path, std::size_t dimensions)
{
  Idx idx{path, {}, read_unpacked(path)};
  check_header(idx, dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) idx.sizes.push_back(big_endian(idx.bytes, 4 + 4 * i));
  const auto promised = promised_bytes(idx), found = static_cast<std::int64_t>(idx.bytes.size());
  if (found < promised)
    throw file_error(path, fmt::format("truncated: {} bytes, its header promises {}. Fetch it again.", found, promised));
  if (found > promised)
    throw file_error(path, fmt::format("{} bytes too many: {} bytes, its header promises {}. Fetch it again.", found - promised,
                                       found, promised));
  return idx;
}

void check_labels(const Idx& labels, std::int64_t classes)
{
  for (std::int64_t i = 0; i < labels.sizes[0]; ++i)
    if (labels.data()[i] >= classes)
      throw file_error(labels.path, fmt::format("label {} of sample {}, expected 0 to {}.", labels.data()[i], i, classes - 1));
}

// One more than the largest label: outputs are numbered like labels, whether or not each label occurs (the labels of EMNIST's
// letters start at 1). If fewer than half of the labels occur, the bytes are not labels.
std::int64_t count_classes(const Idx& labels)
{
  const auto *first = labels.data(), *end = first + labels.sizes[0], *largest = std::max_element(first, end);
  const auto different = static_cast<int>(std::set<std::uint8_t>(first, end).size());
  if (different < 2)
    throw file_error(labels.path, fmt::format("every label is {}, expected labels of at least 2 classes.", *first));
  if (2 * different <= *largest)
    throw file_error(labels.path,
                     fmt::format("label {} of sample {}, but only {} different labels, expected labels from 0 to the "
                                 "number of classes - 1. Are these the labels?",
                                 *largest, largest - first, different));
  return *largest + 1;
}

fs::path idx_path(std::string_view data_set, const fs::path& folder, std::string_view part, std::string_view kind)
{
  const auto dash = fmt::format("{}-{}", part, kind), dot = fmt::format("{}.{}", part, kind);
  return require_file(data_set, folder, std::array{dash, dash + ".gz", dot, dot + ".gz"});
}

// classes: the number of classes; empty: count them from the labels. Appends to `files` what it has read.
ImageSet read_idx_set(std::string_view data_set, const fs::path& folder, std::string_view part,
                      std::optional<std::int64_t> classes, std::vector<fs::path>& files)
{
  const auto images = read_idx(idx_path(data_set, folder, fmt::format("{}-images", part), "idx3-ubyte"), 3);
  const auto labels = read_idx(idx_path(data_set, folder, fmt::format("{}-labels", part), "idx1-ubyte"), 1);
  files.insert(files.end(), {images.path, labels.path});
  const auto count = images.sizes[0];
  if (labels.sizes[0] != count)
    throw file_error(labels.path, fmt::format("{} labels for the {} images of {}. Take both from the same set.", labels.sizes[0],
                                              count, images.path.filename().string()));
  if (!classes) classes = count_classes(labels);
  check_labels(labels, *classes);
  ImageSet set{count, 1, images.sizes[1], images.sizes[2], *classes, {}, {}};
  set.pixels.assign(images.data(), images.data() + count * set.image_bytes());
  set.labels.assign(labels.data(), labels.data() + count);
  return set;
}

} // namespace

ImageSets read_idx_sets(std::string_view data_set, const std::filesystem::path& folder, std::optional<std::int64_t> classes)
{
  ImageSets sets;
  sets.train = read_idx_set(data_set, folder, "train", classes, sets.files);
  sets.test = read_idx_set(data_set, folder, "t10k", sets.train.classes, sets.files);
  const auto &train = sets.train, &test = sets.test;
  if (train.height != test.height || train.width != test.width)
    throw Error(ErrorKind::recipe,
                fmt::format("data set {} in {}: training images are {}x{}, test images {}x{}. Take both from the same set.",
                            data_set, folder.string(), train.height, train.width, test.height, test.width));
  return sets;
}

Sources open_mnist(const DataSpec& spec, const std::filesystem::path& folder)
{
  // The usual constants of MNIST's 60,000 training images.
  return make_byte_sources(read_idx_sets(spec.name, folder), {{0.1307f, 0.3081f}}, spec, folder);
}

Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder)
{
  // Constants of the 20,000 training images of seed 1; other seeds change only the fourth digit.
  return make_byte_sources(read_idx_sets(spec.name, folder, 10), {{0.133f, 0.238f}}, spec, folder);
}

} // namespace dt::data
