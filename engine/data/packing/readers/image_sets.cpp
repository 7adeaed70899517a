// MNIST's and CIFAR's files, which are read into memory.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"
#include "engine/data/sources/image_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// channels x height x width bytes -> height x width x channels bytes
std::string with_channels_last(const std::uint8_t* image, const ImageSet& set)
{
  std::string pixels(static_cast<std::size_t>(set.image_bytes()), '\0');
  const auto plane = set.height * set.width;
  for (std::int64_t c = 0; c < set.channels; ++c)
    for (std::int64_t i = 0; i < plane; ++i)
      pixels[static_cast<std::size_t>(i * set.channels + c)] = static_cast<char>(image[c * plane + i]);
  return pixels;
}

class MemorySets final : public SourceReader {
 public:
  MemorySets(const SourceOptions& options, std::string_view kind, ImageSets sets, std::vector<std::string> classes)
      : sets_(std::move(sets))
  {
    listing_.description = fmt::format("{} {}", kind, last_name(options.path));
    listing_.classes = std::move(classes);
    listing_.height = sets_.train.height, listing_.width = sets_.train.width, listing_.channels = sets_.train.channels;
    add("train", sets_.train, false);
    add("test", sets_.test, true);
    SourceStamp stamp; // not of the whole folder, because the set that is being packed may lie in it
    for (const auto& file : sets_.files) stamp.add(file);
    stamp.store(listing_);
  }

  bool is_concurrent() const override { return true; }

  void read(SampleRange items, const ItemVisitor& visit) override
  {
    for (auto i = items.begin; i < items.end; ++i) {
      const auto& set = i < sets_.train.count ? sets_.train : sets_.test;
      const auto row = i < sets_.train.count ? i : i - sets_.train.count;
      visit(i, with_channels_last(set.pixels.data() + row * set.image_bytes(), set), "");
    }
  }

 private:
  void add(std::string_view split, const ImageSet& set, bool is_test)
  {
    for (std::int64_t i = 0; i < set.count; ++i)
      listing_.items.push_back({fmt::format("{}[{}]", split, i), set.labels[static_cast<std::size_t>(i)], is_test, false, 0});
  }

  ImageSets sets_;
};

// The lines of the first of these files that exists and has `count` lines; else numbers. Adds the files that exist to sets.files.
std::vector<std::string> class_names(const fs::path& folder, std::initializer_list<const char*> files, std::int64_t count,
                                     ImageSets& sets)
{
  for (const auto* file : files)
    if (const auto text = read_file_if_exists(folder / file)) {
      sets.files.push_back(folder / file);
      auto lines = split(trim(*text), '\n');
      for (auto& line : lines) line = trim(line);
      if (static_cast<std::int64_t>(lines.size()) == count) return lines;
    }
  return numbered_classes(count);
}

} // namespace

std::unique_ptr<SourceReader> read_idx_folder(const SourceOptions& options)
{
  auto sets = read_idx_sets("idx", options.path);
  auto classes = numbered_classes(sets.train.classes);
  return std::make_unique<MemorySets>(options, "idx", std::move(sets), std::move(classes));
}

std::unique_ptr<SourceReader> read_cifar10_folder(const SourceOptions& options)
{
  auto sets = read_cifar10_sets("cifar10", options.path);
  auto classes = class_names(options.path, {"batches.meta.txt", "cifar-10-batches-bin/batches.meta.txt"}, 10, sets);
  return std::make_unique<MemorySets>(options, "cifar10", std::move(sets), std::move(classes));
}

std::unique_ptr<SourceReader> read_cifar100_folder(const SourceOptions& options)
{
  auto sets = read_cifar100_sets("cifar100", options.path);
  auto classes = class_names(options.path, {"fine_label_names.txt", "cifar-100-binary/fine_label_names.txt"}, 100, sets);
  return std::make_unique<MemorySets>(options, "cifar100", std::move(sets), std::move(classes));
}

} // namespace dt::data
