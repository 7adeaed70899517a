// CIFAR-10, CIFAR-100 and shapes: data sets in CIFAR's binary files. These hold records of one or two label bytes and 3x32x32
// bytes, red plane first, without header.
#include "core/files/file.hpp"
#include "engine/data/sources/byte_source.hpp"
#include "engine/data/sources/data_sets.hpp"
#include "engine/data/sources/file_bytes.hpp"
#include "engine/data/sources/image_files.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// A label byte of each record: its name in error messages, and its number of values.
struct CifarLabel {
  std::string_view name;
  std::int64_t classes;
};

// How a CIFAR set is stored on disk. The last label of a record is the one to learn.
struct CifarLayout {
  std::string subfolder; // searched if the files are not in the folder itself; the archive unpacks into it
  std::vector<std::string> train_files, test_files;
  std::vector<CifarLabel> labels;
};

constexpr std::int64_t side = 32, image_bytes = 3 * side * side;

std::int64_t record_bytes(const CifarLayout& layout) { return static_cast<std::int64_t>(layout.labels.size()) + image_bytes; }

void check_labels(const fs::path& path, const CifarLayout& layout, const std::uint8_t* record, std::int64_t index)
{
  for (std::size_t i = 0; i < layout.labels.size(); ++i)
    if (record[i] >= layout.labels[i].classes)
      throw file_error(path, fmt::format("{} {} of record {}, expected 0 to {}.", layout.labels[i].name, record[i], index,
                                         layout.labels[i].classes - 1));
}

void append_records(ImageSet& set, const fs::path& path, const CifarLayout& layout)
{
  const auto bytes = read_file(path);
  const auto record = record_bytes(layout), size = static_cast<std::int64_t>(bytes.size());
  if (size == 0 || size % record != 0)
    throw file_error(
        path, fmt::format("{} bytes, not a whole number of records of {} bytes ({} left over): truncated, or of another kind.",
                          size, record, size % record));
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto labels = static_cast<std::int64_t>(layout.labels.size());
  for (std::int64_t i = 0; i < size / record; ++i, at += record) {
    check_labels(path, layout, at, i);
    set.labels.push_back(at[labels - 1]);
    set.pixels.insert(set.pixels.end(), at + labels, at + record);
  }
  set.count += size / record;
}

// Appends to `files` what it has read.
ImageSet read_files(std::string_view data_set, const fs::path& folder, const std::vector<std::string>& names,
                    const CifarLayout& layout, std::vector<fs::path>& files)
{
  ImageSet set{0, 3, side, side, layout.labels.back().classes, {}, {}};
  for (const auto& name : names) {
    files.push_back(require_file(data_set, folder, std::array{name, layout.subfolder + "/" + name}));
    append_records(set, files.back(), layout);
  }
  return set;
}

// Throws a recipe error with file, content and expectation if a file is missing, is empty, is not a whole number of records, or
// has a label out of range.
ImageSets read_cifar_sets(std::string_view data_set, const fs::path& folder, const CifarLayout& layout)
{
  ImageSets sets;
  sets.train = read_files(data_set, folder, layout.train_files, layout, sets.files);
  sets.test = read_files(data_set, folder, layout.test_files, layout, sets.files);
  return sets;
}

// CIFAR-10: data_batch_1.bin … data_batch_5.bin and test_batch.bin, with one label; searched in cifar-10-batches-bin/ too.
CifarLayout cifar10_layout()
{
  CifarLayout layout{"cifar-10-batches-bin", {}, {"test_batch.bin"}, {{"label", 10}}};
  for (int i = 1; i <= 5; ++i) layout.train_files.push_back(fmt::format("data_batch_{}.bin", i));
  return layout;
}

CifarLayout cifar100_layout()
{
  return {"cifar-100-binary", {"train.bin"}, {"test.bin"}, {{"coarse label", 20}, {"fine label", 100}}};
}

} // namespace

ImageSets read_cifar10_sets(std::string_view data_set, const std::filesystem::path& folder)
{
  return read_cifar_sets(data_set, folder, cifar10_layout());
}

ImageSets read_cifar100_sets(std::string_view data_set, const std::filesystem::path& folder)
{
  return read_cifar_sets(data_set, folder, cifar100_layout());
}

Sources open_cifar10(const DataSpec& spec, const std::filesystem::path& folder)
{
  // The usual constants of CIFAR-10's 50,000 training images.
  return make_byte_sources(read_cifar10_sets(spec.name, folder), {{0.4914f, 0.2470f}, {0.4822f, 0.2435f}, {0.4465f, 0.2616f}},
                           spec, folder);
}

Sources open_cifar100(const DataSpec& spec, const std::filesystem::path& folder)
{
  // The usual constants of CIFAR-100's 50,000 training images.
  return make_byte_sources(read_cifar100_sets(spec.name, folder), {{0.5071f, 0.2673f}, {0.4865f, 0.2564f}, {0.4409f, 0.2762f}},
                           spec, folder);
}

Sources open_shapes(const DataSpec& spec, const std::filesystem::path& folder)
{
  // Constants of the 20,000 training images of seed 1; other seeds and the three colours change only the third digit.
  return make_byte_sources(read_cifar10_sets(spec.name, folder), {{0.5f, 0.267f}, {0.5f, 0.267f}, {0.5f, 0.267f}}, spec, folder);
}

} // namespace dt::data
