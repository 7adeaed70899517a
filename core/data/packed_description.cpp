#include "core/data/packed_description.hpp"

#include "core/error.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace dt {

using Json = nlohmann::ordered_json;

std::string packed_description_text(const PackedDescription& set)
{
  return Json{{"encoding", set.encoding == PackedEncoding::jpeg ? "jpeg" : "pixels"},
              {"channels", set.channels},
              {"height", set.height},
              {"width", set.width},
              {"min_side", set.min_side},
              {"max_side", set.max_side},
              {"train_samples", set.train_samples},
              {"test_samples", set.test_samples},
              {"classes", set.classes},
              {"mean", set.mean},
              {"deviation", set.deviation},
              {"skipped", set.skipped},
              {"source", set.source},
              {"options", set.options}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

PackedDescription parse_packed_description(std::string_view text)
{
  const auto json = Json::parse(text);
  PackedDescription set;
  const auto encoding = json.at("encoding").get<std::string>();
  if (encoding != "jpeg" && encoding != "pixels") throw Error(ErrorKind::recipe, "unknown encoding " + encoding);
  set.encoding = encoding == "jpeg" ? PackedEncoding::jpeg : PackedEncoding::pixels;
  const std::array numbers{std::pair("channels", &set.channels),
                           std::pair("height", &set.height),
                           std::pair("width", &set.width),
                           std::pair("min_side", &set.min_side),
                           std::pair("max_side", &set.max_side),
                           std::pair("train_samples", &set.train_samples),
                           std::pair("test_samples", &set.test_samples),
                           std::pair("skipped", &set.skipped)};
  for (const auto& [name, number] : numbers) *number = json.at(name).get<std::int64_t>();
  set.classes = json.at("classes").get<std::vector<std::string>>();
  set.mean = json.at("mean").get<std::vector<double>>();
  set.deviation = json.at("deviation").get<std::vector<double>>();
  set.source = json.at("source").get<std::string>();
  set.options = json.at("options").get<std::string>();
  return set;
}

bool describes_records(const PackedDescription& set, std::uint64_t records)
{
  constexpr std::int64_t most_side = 65536, most_pixels = std::int64_t{1} << 27;
  if (set.height > most_side || set.width > most_side || set.height * set.width > most_pixels) return false;
  const auto channels = static_cast<std::size_t>(set.channels);
  return (set.channels == 1 || set.channels == 3) && set.mean.size() == channels && set.deviation.size() == channels &&
         set.train_samples >= 1 && set.test_samples >= 0 && !set.classes.empty() && set.height >= 0 && set.width >= 0 &&
         (set.encoding == PackedEncoding::jpeg || (set.height > 0 && set.width > 0)) &&
         static_cast<std::uint64_t>(set.train_samples) + static_cast<std::uint64_t>(set.test_samples) == records;
}

} // namespace dt
