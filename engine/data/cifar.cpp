#include "engine/data/cifar.hpp"

#include "core/file.hpp"
#include "engine/data/file_bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

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

ImageSet read_files(std::string_view data_set, const fs::path& folder, const std::vector<std::string>& names,
                    const CifarLayout& layout)
{
  ImageSet set{0, 3, side, side, layout.labels.back().classes, {}, {}};
  for (const auto& name : names)
    append_records(set, require_file(data_set, folder, std::array{name, layout.subfolder + "/" + name}), layout);
  return set;
}

} // namespace

ImageSets read_cifar_sets(std::string_view data_set, const fs::path& folder, const CifarLayout& layout)
{
  return {read_files(data_set, folder, layout.train_files, layout), read_files(data_set, folder, layout.test_files, layout)};
}

CifarLayout cifar10_layout()
{
  CifarLayout layout{"cifar-10-batches-bin", {}, {"test_batch.bin"}, {{"label", 10}}};
  for (int i = 1; i <= 5; ++i) layout.train_files.push_back(fmt::format("data_batch_{}.bin", i));
  return layout;
}

} // namespace dt::data
