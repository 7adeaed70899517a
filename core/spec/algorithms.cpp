#include "core/spec/algorithms.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/json_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt {
namespace {

constexpr std::array algorithm_words{
    Choice{Algorithm::direct, Name{"direct", "the sums as they are written, in blocks of channels"}},
    Choice{Algorithm::winograd,
           Name{"winograd", "Winograd's algorithm: fewer multiplications for 3x3 and 5x5 convolutions, computed in fp32"}},
    Choice{Algorithm::channels_last,
           Name{"channels-last", "the sums as they are written, with the channels of a pixel in a row"}},
    Choice{Algorithm::image_lanes, Name{"image-lanes", "sixteen images side by side, for the whole network"}},
};

// Raised when an older reader would misunderstand the file.
constexpr int schema = 1;

constexpr const char* expected =
    "give the name of a convolution and three algorithms: forward, backward to the data, backward to the weights";

[[noreturn]] void refuse(std::string_view origin, const std::string& why)
{
  throw Error(ErrorKind::recipe, fmt::format("{}: {}", origin, why));
}

std::vector<std::string> words_of(const std::string& line)
{
  std::vector<std::string> words;
  for (const auto& word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

Algorithm algorithm_of(const std::string& word, const std::string& line, std::string_view origin)
{
  if (const auto found = find_choice<Algorithm>(word)) return *found;
  std::vector<std::string> known;
  for (const auto& name : choice_names<Algorithm>()) known.emplace_back(name.name);
  refuse(origin,
         fmt::format("`{}` in `{}` is no algorithm; it must be one of {}.", printable(word), printable(line), join(known, ", ")));
}

// "9 winograd, 4 direct", in the order of the table.
std::string counts_in_words(const Algorithms& algorithms, Algorithm LayerAlgorithms::*direction)
{
  std::vector<std::string> parts;
  for (const auto& choice : choices<Algorithm>()) {
    const auto count = std::count_if(algorithms.begin(), algorithms.end(),
                                     [&](const auto& layer) { return layer.second.*direction == choice.value; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, choice.name.name));
  }
  return join(parts, ", ");
}

} // namespace

template<> std::span<const Choice<Algorithm>> choices<Algorithm>() { return algorithm_words; }

bool uses_image_lanes(const Algorithms& algorithms)
{
  return std::any_of(algorithms.begin(), algorithms.end(),
                     [](const auto& layer) { return layer.second.forward == Algorithm::image_lanes; });
}

std::string in_words(const Algorithms& algorithms)
{
  if (algorithms.empty()) return "as the rules have it";
  const auto count = counted(algorithms.size(), "convolution") + ": ";
  const auto forward = counts_in_words(algorithms, &LayerAlgorithms::forward),
             data = counts_in_words(algorithms, &LayerAlgorithms::backward_data),
             weights = counts_in_words(algorithms, &LayerAlgorithms::backward_weights);
  if (forward == data && forward == weights) return count + forward;
  return count + fmt::format("forward {}; backward to the data {}; backward to the weights {}", forward, data, weights);
}

std::vector<std::string> algorithm_lines(const Algorithms& algorithms)
{
  std::vector<std::string> lines;
  for (const auto& [name, layer] : algorithms)
    lines.push_back(
        fmt::format("{} {} {} {}", name, name_of(layer.forward), name_of(layer.backward_data), name_of(layer.backward_weights)));
  return lines;
}

Algorithms algorithms_of_lines(const std::vector<std::string>& lines, std::string_view origin)
{
  Algorithms algorithms;
  for (const auto& line : lines) {
    const auto words = words_of(line);
    if (words.size() != 4) refuse(origin, fmt::format("`{}` cannot be read; {}.", printable(line), expected));
    const LayerAlgorithms layer{algorithm_of(words[1], line, origin), algorithm_of(words[2], line, origin),
                                algorithm_of(words[3], line, origin)};
    if (!algorithms.emplace(words[0], layer).second)
      refuse(origin, fmt::format("Layer {} is named twice; name each convolution once.", printable(words[0])));
  }
  return algorithms;
}

std::optional<std::string> algorithms_misfit(const Algorithms& algorithms, bool winograd, Precision precision)
{
  const auto uses = [](const LayerAlgorithms& layer, Algorithm algorithm) {
    return layer.forward == algorithm || layer.backward_data == algorithm || layer.backward_weights == algorithm;
  };
  for (const auto& [name, layer] : algorithms) {
    if (!winograd && uses(layer, Algorithm::winograd))
      return fmt::format("`train.winograd: false` excludes Winograd's algorithm, which the list of algorithms names for {}",
                         printable(name));
    if (precision != Precision::fp32 && uses(layer, Algorithm::image_lanes))
      return fmt::format("`train.precision: {}` has no {}, which the list of algorithms names for {}", name_of(precision),
                         name_of(Algorithm::image_lanes), printable(name));
  }
  return std::nullopt;
}

std::string to_json(const Algorithms& algorithms)
{
  return nlohmann::ordered_json{{"schema", schema}, {"algorithms", algorithm_lines(algorithms)}}.dump(1) + "\n";
}

Algorithms parse_algorithms(const std::string& json, std::string_view origin)
{
  constexpr const char* advice = "Give the algorithms.json of a run's folder.";
  std::vector<std::string> lines;
  try {
    const auto file = nlohmann::json::parse(json);
    if (const auto later = words_of_later_schema(file, schema); !later.empty()) refuse(origin, fmt::format("It {}.", later));
    if (file.at("schema").get<int>() != schema)
      refuse(origin, fmt::format("schema is not {}, so another version of dtctl wrote this file. {}", schema, advice));
    lines = file.at("algorithms").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    refuse(origin, fmt::format("This is not a list of algorithms. {}", advice));
  }
  if (lines.empty()) refuse(origin, fmt::format("The list of algorithms is empty. {}", advice));
  return algorithms_of_lines(lines, origin);
}

Algorithms read_algorithms(const std::filesystem::path& file)
{
  const auto text = read_file_if_exists(file);
  if (!text) refuse(file.string(), "There is no such file. Give the path of the algorithms.json in a run's folder.");
  return parse_algorithms(*text, file.string());
}

} // namespace dt
