#include "engine/data/viewing/samples.hpp"

#include "core/error.hpp"
#include "core/maths/random.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "engine/data/images/decoder.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

std::uint32_t label_of(const PackedFile& file, const std::string& name)
{
  const auto& classes = file.description().classes;
  const auto found = std::ranges::find(classes, name);
  if (found != classes.end()) return static_cast<std::uint32_t>(found - classes.begin());
  if (const auto label = number_of<std::uint32_t>(name); label && *label < classes.size()) return *label;
  const auto similar = nearest(name, classes);
  throw Error(ErrorKind::usage,
              fmt::format("{} has no class {}{}. It has {} classes: give a name or a number from 0 to {}.", file.path().string(),
                          printable(name), similar ? fmt::format("; did you mean {}?", printable(*similar)) : "", classes.size(),
                          classes.size() - 1));
}

Image pixels_of(const PackedFile& file, std::string_view bytes)
{
  const auto& set = file.description();
  Image image;
  image.reshape(set.height, set.width, set.channels);
  if (bytes.size() != image.pixels.size()) throw Error(ErrorKind::recipe, "the record has another size than an image of the set");
  std::ranges::copy(bytes, image.pixels.begin());
  return image;
}

} // namespace

std::vector<std::int64_t> choose_samples(const PackedFile& file, const SampleChoice& choice)
{
  const auto& set = file.description();
  const auto begin = choice.split == "test" ? set.train_samples : 0;
  const auto end = choice.split == "train" ? set.train_samples : file.size();
  std::optional<std::uint32_t> label;
  if (!choice.class_name.empty()) label = label_of(file, choice.class_name);
  std::vector<std::int64_t> records;
  for (auto record = begin; record < end; ++record)
    if (!label || file.entry(record).label == *label) records.push_back(record);
  if (records.empty())
    throw Error(ErrorKind::usage, fmt::format("{} has no such images{}.", file.path().string(),
                                              choice.split.empty() ? "" : fmt::format(" in its {} set", choice.split)));
  const auto count = std::min(static_cast<std::size_t>(choice.count), records.size());
  Random random(choice.seed);
  for (std::size_t i = 0; i < count; ++i) std::swap(records[i], records[i + random.below(records.size() - i)]);
  records.resize(count);
  std::ranges::sort(records);
  return records;
}

std::vector<Sample> read_samples(const PackedFile& file, const std::vector<std::int64_t>& records)
{
  const auto& set = file.description();
  ImageDecoder decoder;
  std::string bytes;
  std::vector<Sample> samples;
  for (const auto record : records) {
    Sample sample{record, {}, set.classes.at(file.entry(record).label), file.name(record)};
    file.read(record, bytes);
    try {
      if (!file.is_intact(record, bytes))
        throw Error(ErrorKind::recipe,
                    "the image is damaged: its bytes are not those that were packed. dtctl data check lists all damaged images");
      if (set.encoding == PackedEncoding::jpeg)
        decoder.decode(bytes, set.channels, sample.image);
      else
        sample.image = pixels_of(file, bytes);
    } catch (const Error& error) {
      throw error.within(fmt::format("{}: {}", file.path().string(), printable(sample.name)));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

} // namespace dt::data
