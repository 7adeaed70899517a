#include "engine/data/packing/plan.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/data/images/decoder.hpp"
#include "engine/data/packing/content_facts.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

PackedEncoding choose_encoding(const PackOptions& options, const SourceListing& listing)
{
  const auto other = std::ranges::find_if_not(listing.items, &SourceItem::is_jpeg);
  const bool all_jpeg = other == listing.items.end(), resizes = options.height != 0;
  if (options.encoding != PackedEncoding::jpeg)
    return options.encoding.value_or(all_jpeg && !resizes ? PackedEncoding::jpeg : PackedEncoding::pixels);
  if (!all_jpeg)
    throw Error(ErrorKind::usage,
                fmt::format("--encoding jpeg stores JPEG files as they are, but {} is not one. Use --encoding pixels.",
                            printable(other->name)));
  if (resizes)
    throw Error(ErrorKind::usage, "--encoding jpeg stores JPEG files as they are, so --size cannot resize them. Leave out one of "
                                  "the two; data.image_size in a recipe resizes images while they are read.");
  return PackedEncoding::jpeg;
}

bool has_other_than_jpeg(const SourceListing& listing)
{
  return !listing.is_array() && !std::ranges::all_of(listing.items, &SourceItem::is_jpeg);
}

// Decodes the first image of the source that can be decoded. Returns its name. Throws a usage error with the causes if there is
// none.
std::string first_image(SourceReader& source, Image& image)
{
  const auto& items = source.listing().items;
  ImageDecoder decoder;
  std::string name;
  std::vector<CorruptItem> corrupt;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(items.size()) && name.empty(); ++i)
    source.read({i, i + 1}, [&](std::int64_t item, std::string_view bytes, std::string_view trouble) {
      if (!trouble.empty()) return corrupt.push_back({item, std::string(trouble)});
      try {
        decoder.decode(bytes, 0, image);
        name = items[static_cast<std::size_t>(item)].name;
      } catch (const Error& error) {
        corrupt.push_back({item, error.what()});
      }
    });
  if (!name.empty()) return name;
  throw Error(ErrorKind::usage, fmt::format("None of the {} images of the source ({}) can be decoded:{}", items.size(),
                                            source.listing().description, lines_of(corrupt, [&](std::int64_t item) {
                                              return items[static_cast<std::size_t>(item)].name;
                                            })));
}

void choose_shape(PackPlan& plan, const PackOptions& options, SourceReader& source)
{
  const auto& listing = source.listing();
  Image first{listing.height, listing.width, listing.channels, {}};
  plan.first_name = listing.is_array() ? listing.items.front().name : first_image(source, first);
  plan.channels = options.channels != 0 ? options.channels : first.channels;
  plan.converts_channels = options.channels != 0;
  if (plan.encoding == PackedEncoding::jpeg) return;
  plan.resizes = options.height != 0;
  plan.height = plan.resizes ? options.height : first.height;
  plan.width = plan.resizes ? options.width : first.width;
}

// The rules for transparent pixels and 16 bits, of which only PNG and WebP files have any.
void choose_colours(PackPlan& plan, const PackOptions& options, const SourceListing& listing)
{
  const bool may_differ = has_other_than_jpeg(listing);
  for (const auto& [option, is_given, formats] : {std::tuple("--background", options.background.has_value(), "PNG or WebP"),
                                                  std::tuple("--range", options.range.has_value(), "PNG")})
    if (is_given && !may_differ)
      throw Error(ErrorKind::usage, fmt::format("{} is for {} images, but the source ({}) has none. Leave out {}.", option,
                                                formats, printable(listing.description), option));
  if (options.background) plan.colours.background = *options.background;
  if (options.range) std::tie(plan.colours.black, plan.colours.white) = *options.range;
}

void place_records(PackPlan& plan, const SourceListing& listing)
{
  plan.begins.resize(listing.items.size());
  plan.is_train.resize(listing.items.size());
  std::uint64_t position = packed_records_begin;
  for (std::size_t i = 0; i < plan.order.items.size(); ++i) {
    const auto item = static_cast<std::size_t>(plan.order.items[i]);
    plan.is_train[item] = static_cast<std::int64_t>(i) < plan.order.train;
    plan.begins[item] = position;
    const auto bytes = plan.record_bytes(listing.items[item]);
    if (bytes > std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorKind::usage, fmt::format("{} would be a record of {} bytes; a record may have up to 4 GiB.",
                                                printable(listing.items[item].name), bytes));
    position += bytes;
  }
  plan.records_end = position;
}

std::vector<SampleRange> make_parts(const PackPlan& plan, const SourceListing& listing)
{
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20; // a thread may hold a part in memory
  constexpr std::int64_t most_items = 512;
  std::vector<SampleRange> parts;
  SampleRange part;
  std::uint64_t bytes = 0;
  for (const auto& item : listing.items) {
    const auto more = std::max(item.bytes, plan.record_bytes(item));
    if (!part.empty() && (part.size() == most_items || bytes + more > most_bytes)) {
      parts.push_back(part);
      part.begin = part.end;
      bytes = 0;
    }
    ++part.end;
    bytes += more;
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string words_of(const PackPlan& plan, const PackOptions& options, const SourceListing& listing)
{
  std::vector<std::string> words{plan.encoding == PackedEncoding::jpeg ? "--encoding jpeg" : "--encoding pixels"};
  if (plan.resizes) words.push_back(fmt::format("--size {}x{}", plan.height, plan.width));
  if (options.channels != 0) words.push_back(fmt::format("--channels {}", options.channels));
  if (has_other_than_jpeg(listing))
    words.push_back(fmt::format("--background '#{:02x}'", fmt::join(plan.colours.background, "")));
  if (options.range) words.push_back(fmt::format("--range {}..{}", plan.colours.black, plan.colours.white));
  if (!listing.has_test())
    words.push_back(
        fmt::format("--test-fraction {}", format_shortest(options.split.test_fraction.value_or(default_test_fraction))));
  words.emplace_back(options.split.shuffle ? "--order shuffled" : "--order source");
  const bool draws = !listing.has_test() && options.split.test_fraction.value_or(default_test_fraction) > 0;
  if (draws || options.split.shuffle) words.push_back(fmt::format("--seed {}", options.split.seed));
  for (const auto& [option, value] :
       {std::pair("--images", options.source.images), std::pair("--labels", options.source.labels),
        std::pair("--layout", options.source.layout), std::pair("--test-folder", options.source.test_folder)})
    if (!value.empty()) words.push_back(fmt::format("{} {}", option, shell_quote(value)));
  return fmt::format("{}", fmt::join(words, " "));
}

} // namespace

PackPlan plan_pack(const PackOptions& options, SourceReader& source)
{
  const auto& listing = source.listing();
  PackPlan plan;
  plan.encoding = choose_encoding(options, listing);
  plan.order = split_items(listing, options.split);
  choose_colours(plan, options, listing);
  choose_shape(plan, options, source);
  place_records(plan, listing);
  plan.parts = make_parts(plan, listing);
  plan.options = words_of(plan, options, listing);
  return plan;
}

} // namespace dt::data
