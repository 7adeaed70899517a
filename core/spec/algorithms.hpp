// Algorithms: the algorithm of each convolution of a network, in each direction. A run records its own in algorithms.json.
#pragma once

#include "core/spec/choices.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// The algorithm of a convolution in one direction.
enum class Algorithm { direct, winograd, channels_last, image_lanes };
template<> std::span<const Choice<Algorithm>> choices<Algorithm>();

// The algorithms of one convolution in its three directions.
struct LayerAlgorithms {
  Algorithm forward = Algorithm::direct, backward_data = Algorithm::direct, backward_weights = Algorithm::direct;
  friend bool operator==(const LayerAlgorithms&, const LayerAlgorithms&) = default;
};

// By the layer's name. Empty: the rules of engine/nn decide.
using Algorithms = std::map<std::string, LayerAlgorithms>;

// Whether a layer uses image lanes; then all layers do that can.
bool uses_image_lanes(const Algorithms& algorithms);

// "13 convolutions: forward 9 winograd, 4 direct; backward to the data 12 direct; ...", or "20 convolutions: image lanes" where
// all use them. Says of an empty list that the rules decide.
std::string in_words(const Algorithms& algorithms);

// A line per layer, in the order of the names: "conv1 winograd direct channels-last": forward, backward to the data, backward to
// the weights.
std::vector<std::string> algorithm_lines(const Algorithms& algorithms);
// Throws a recipe error that begins with `origin` for a line that cannot be read, and for a layer that is named twice.
Algorithms algorithms_of_lines(const std::vector<std::string>& lines, std::string_view origin);

// Why a run must not compute with these algorithms: it excludes Winograd's algorithm (`winograd`: train.winograd), or computes in
// bf16, which image lanes cannot. Nothing if it may.
std::optional<std::string> algorithms_misfit(const Algorithms& algorithms, bool winograd, Precision precision);

// The content of algorithms.json.
std::string to_json(const Algorithms& algorithms);
// Throws a recipe error that begins with `origin` for any other text, and for a list without layers.
Algorithms parse_algorithms(const std::string& json, std::string_view origin);
// Throws a recipe error if there is no such file or if it cannot be read.
Algorithms read_algorithms(const std::filesystem::path& file);

} // namespace dt
