#include "core/spec/compute_profile.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/json_schema.hpp"
#include "core/maths/random.hpp"
#include "core/maths/statistics.hpp"
#include "core/spec/choices.hpp"
#include "core/spec/input_shape.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a reader of the version before would misunderstand a profile.
constexpr int profile_schema = 1;
constexpr const char* kind = "compute_profile";
// Times are written in nanoseconds and quantiles in millionths, so the median of the quantiles is 1 but for rounding.
constexpr double median_tolerance = 1e-3;

std::string in_words(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The members of one file. Every refusal says where, what and what to do.
class ProfileReader {
 public:
  explicit ProfileReader(const std::string& origin) : origin_(origin) {}

  ComputeProfile read(const std::string& text) const
  {
    const Json file = parsed(text);
    const Json& json = profile_in(file);
    check_schema(json);
    const bool is_of_program = has_parameters(json);
    ComputeProfile profile{.model = word(json, "model"),
                           .image = is_of_program ? "" : image(json),
                           .precision = is_of_program ? "" : precision(json),
                           .processor = word(json, "processor"),
                           .host = word(json, "host"),
                           .classes = is_of_program ? 0 : count(json, "classes"),
                           .batch = count(json, "batch"),
                           .threads = count(json, "threads"),
                           .layers = layers(json, is_of_program),
                           .input_s = json.contains("input_s") ? at_least_0(json, "", "input_s") : 0,
                           .update_s = at_least_0(json, "", "update_s"),
                           .steps = count(json, "steps"),
                           .step_quantiles = quantiles(json),
                           .node_spread = at_least_0(json, "", "node_spread"),
                           .processes = count(json, "processes")};
    if (profile.forward_s() + profile.backward_s() <= 0) refuse("The times of all layers are 0.");
    return profile;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const
  {
    throw Error(ErrorKind::recipe, fmt::format("{}: {} Measure a profile with `dtbench compute --model MODEL --batch SAMPLES "
                                               "--profile --json`.",
                                               origin_, what));
  }
  [[noreturn]] void refuse(const std::string& name, const char* allowed, const Json& value) const
  {
    refuse(fmt::format("{} must be {}, not {}.", name, allowed, in_words(value)));
  }

  Json parsed(const std::string& text) const
  {
    try {
      return Json::parse(text);
    } catch (const Json::parse_error& error) {
      refuse(fmt::format("The text is not JSON (byte {}).", error.byte));
    } catch (const Json::exception&) { // a number that no double can hold
      refuse("A number in the text is too large.");
    }
  }

  const Json& profile_in(const Json& file) const
  {
    const bool is_nested = file.is_object() && file.contains(kind) && file[kind].is_object();
    const Json& json = is_nested ? file[kind] : file;
    if (!json.is_object() || json.value("kind", Json()) != kind) refuse("The file has no compute profile.");
    return json;
  }

  void check_schema(const Json& json) const
  {
    const Json& found = member(json, "", "schema");
    if (const auto later = words_of_later_schema(json, profile_schema); !later.empty())
      throw Error(ErrorKind::recipe, fmt::format("{} {}", origin_, later));
    if (found != profile_schema)
      refuse(
          fmt::format("The compute profile has schema {}, but this version reads schema {}.", in_words(found), profile_schema));
  }

  // `place` stands before the member's name in messages: "layer conv1: ".
  const Json& member(const Json& json, const std::string& place, const char* name) const
  {
    if (!json.contains(name)) refuse(fmt::format("{}{} is missing.", place, name));
    return json[name];
  }

  std::string word(const Json& json, const char* name, const std::string& place = "") const
  {
    const Json& value = member(json, place, name);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) refuse(place + name, "a text", value);
    return value.get<std::string>();
  }

  std::string image(const Json& json) const
  {
    const auto text = word(json, "image");
    if (!parse_image(text)) refuse("image", "channels x height x width as 3x224x224", json["image"]);
    return text;
  }

  std::string precision(const Json& json) const
  {
    const auto text = word(json, "precision");
    if (!find_choice<Precision>(text))
      refuse("precision", join(strings_of(choice_names<Precision>()), " or ").c_str(), json["precision"]);
    return text;
  }

  std::int64_t count(const Json& json, const char* name, const std::string& place = "", std::int64_t least = 1) const
  {
    const Json& value = member(json, place, name);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least)
      refuse(place + name, fmt::format("a whole number of at least {}", least).c_str(), value);
    return value.get<std::int64_t>();
  }

  double at_least_0(const Json& json, const std::string& place, const char* name) const
  {
    const Json& value = member(json, place, name);
    if (!value.is_number() || !(value.get<double>() >= 0)) refuse(place + name, "a number of at least 0", value);
    return value.get<double>();
  }

  const Json& list(const Json& json, const char* name, std::size_t least) const
  {
    const Json& values = member(json, "", name);
    if (!values.is_array() || values.size() < least) refuse(fmt::format("{} must be a list of at least {}.", name, least));
    return values;
  }

  static bool has_parameters(const Json& json)
  {
    if (!json.contains("layers") || !json["layers"].is_array() || json["layers"].empty()) return false;
    const Json& first = json["layers"].front();
    return first.is_object() && first.contains("parameters");
  }

  std::vector<LayerTime> layers(const Json& json, bool is_of_program) const
  {
    std::vector<LayerTime> times;
    std::set<std::string> names;
    for (const auto& layer : list(json, "layers", 1)) {
      const auto name = word(layer, "name", fmt::format("layer {}: ", times.size() + 1));
      if (!names.insert(name).second) refuse(fmt::format("There are two layers {}.", name));
      const auto place = fmt::format("layer {}: ", name);
      times.push_back({name, at_least_0(layer, place, "forward_s"), at_least_0(layer, place, "backward_s"), {}});
      if (is_of_program) times.back().parameters = count(layer, "parameters", place, 0);
    }
    const auto has_any = [](const LayerTime& layer) { return layer.parameters > 0; };
    if (is_of_program && std::ranges::none_of(times, has_any)) refuse("No layer has parameters.");
    return times;
  }

  std::vector<double> quantiles(const Json& json) const
  {
    std::vector<double> values;
    for (const auto& value : list(json, "step_quantiles", 2)) {
      if (!value.is_number() || !(value.get<double>() > 0)) refuse("step_quantiles", "numbers above 0", value);
      if (!values.empty() && value.get<double>() < values.back())
        refuse(fmt::format("step_quantiles must ascend, but {} follows {}.", in_words(value), values.back()));
      values.push_back(value.get<double>());
    }
    const double middle = quantile_of_sorted(std::span<const double>(values), 0.5);
    if (std::abs(middle - 1) > median_tolerance)
      refuse(fmt::format("The median of step_quantiles must be 1, not {}: they are factors on the median step time.", middle));
    return values;
  }

  std::string origin_;
};

Json json_of(const LayerTime& layer)
{
  Json json{{"name", layer.name}, {"forward_s", layer.forward_s}, {"backward_s", layer.backward_s}};
  if (layer.parameters) json["parameters"] = *layer.parameters;
  return json;
}

// The streams of random numbers that StepFactors takes from its seed.
enum : std::uint64_t { part_of_steps = 1, part_of_nodes = 2 };

std::uint64_t key_of(std::uint64_t seed, std::uint64_t part, std::int64_t number)
{
  return sub_key(sub_key(seed, part), static_cast<std::uint64_t>(number));
}

} // namespace

double ComputeProfile::forward_s() const
{
  double sum_s = 0;
  for (const auto& layer : layers) sum_s += layer.forward_s;
  return sum_s;
}

double ComputeProfile::backward_s() const
{
  double sum_s = 0;
  for (const auto& layer : layers) sum_s += layer.backward_s;
  return sum_s;
}

bool ComputeProfile::is_of_program() const { return image.empty(); }

std::size_t step_quantile_count(std::size_t steps) { return 32 * std::clamp<std::size_t>(steps / 32, 1, 32) + 1; }

std::vector<double> step_quantiles(std::vector<double> step_times)
{
  std::sort(step_times.begin(), step_times.end());
  const std::span<const double> ascending(step_times);
  const double middle = quantile_of_sorted(ascending, 0.5);
  const auto count = step_quantile_count(ascending.size());
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < count; ++i)
    quantiles.push_back(quantile_of_sorted(ascending, static_cast<double>(i) / static_cast<double>(count - 1)) / middle);
  return quantiles;
}

double mean_factor(std::span<const double> step_quantiles)
{
  double sum = -(step_quantiles.front() + step_quantiles.back()) / 2;
  for (const double quantile : step_quantiles) sum += quantile;
  return sum / static_cast<double>(step_quantiles.size() - 1);
}

double node_spread_of(std::span<const double> medians)
{
  if (medians.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double seconds : medians) mean += std::log(seconds) / static_cast<double>(medians.size());
  for (const double seconds : medians) squares += std::pow(std::log(seconds) - mean, 2);
  return std::sqrt(squares / static_cast<double>(medians.size() - 1));
}

ComputeProfile parse_compute_profile(const std::string& json_text, const std::string& origin)
{
  return ProfileReader(origin).read(json_text);
}

bool is_compute_profile_path(std::string_view value) { return value.find('/') != value.npos || value.ends_with(".json"); }

std::filesystem::path compute_profile_file(const std::string& value)
{
  return is_compute_profile_path(value) ? std::filesystem::path(value) : recipe_library() / "profiles" / (value + ".json");
}

ComputeProfile read_compute_profile(const std::string& value)
{
  const auto file = compute_profile_file(value);
  if (is_there(file)) return parse_compute_profile(read_file(file), file.string());
  const auto shipped = stems_in(recipe_library() / "profiles", ".json");
  throw Error(ErrorKind::recipe, "there is no compute profile " + printable(file.string()) +
                                     ". Shipped profiles: " + join(shipped, ", ") +
                                     ". Measure one with: dtbench compute --model NAME --batch N --profile --json > FILE.json");
}

std::string to_json(const ComputeProfile& profile)
{
  Json layers = Json::array();
  for (const auto& layer : profile.layers) layers.push_back(json_of(layer));
  Json json{{"schema", profile_schema}, {"kind", kind}, {"model", profile.model}};
  if (!profile.is_of_program()) {
    json["image"] = profile.image;
    json["classes"] = profile.classes;
    json["precision"] = profile.precision;
  }
  json["batch"] = profile.batch;
  json["threads"] = profile.threads;
  json["processor"] = profile.processor;
  json["host"] = profile.host;
  json["layers"] = layers;
  if (profile.input_s > 0) json["input_s"] = profile.input_s;
  json["update_s"] = profile.update_s;
  json["steps"] = profile.steps;
  json["step_quantiles"] = profile.step_quantiles;
  json["node_spread"] = profile.node_spread;
  json["processes"] = profile.processes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StepFactors::StepFactors(const ComputeProfile& profile, std::uint64_t seed)
    : quantiles_(profile.step_quantiles), node_spread_(profile.node_spread), seed_(seed)
{
}

StepFactors::StepFactors(double step_spread, double node_spread, std::uint64_t seed)
    : step_spread_(step_spread), node_spread_(node_spread), seed_(seed)
{
}

double StepFactors::factor(std::int64_t node, std::int64_t rank, std::int64_t step) const
{
  return step_factor(rank, step) * node_factor(node);
}

double StepFactors::step_factor(std::int64_t rank, std::int64_t step) const
{
  const auto key = key_of(seed_, part_of_steps, rank);
  if (quantiles_.empty())
    return std::exp(step_spread_ * static_cast<double>(Random(sub_key(key, static_cast<std::uint64_t>(step))).normal()));
  const auto word = counter_word(key, static_cast<std::uint64_t>(step));
  const double probability = static_cast<double>(word >> 11) * 0x1p-53; // in [0, 1)
  return quantile_of_sorted(std::span<const double>(quantiles_), probability);
}

double StepFactors::node_factor(std::int64_t node) const
{
  return std::exp(node_spread_ * static_cast<double>(Random(key_of(seed_, part_of_nodes, node)).normal()));
}

} // namespace dt
