// The closed lists of words that keys of a recipe choose from, as enumerations. An enumeration has one table of words
// (choices.cpp). The reader of recipes and its errors, the JSON Schema, run keys, spec.json and the columns of the database all
// print these words.
//
// Names that a registry of the engine or of jobs knows (models, strategies, allreduces, …) are texts: core/spec/names.hpp.
#pragma once

#include "core/spec/metrics.hpp"
#include "core/spec/names.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dt {

// The implementation that computes convolutions and inner products.
enum class Engine { onednn, reference };

// Samples over which batch normalisation computes mean and variance.
enum class BatchNormSamples { local, synchronized };

// Order in which ranks read the samples of an epoch.
enum class DataOrder { automatic, samples, blocks, file };

// How training images are cropped.
enum class ImageCrop { none, pad, random_resized };

// Whether a run fails at a sample that cannot be decoded, or takes the next sample in its place.
enum class CorruptSamples { refuse, skip };

// What a run of the user's own program is identified by, beside its command and parameters.
enum class ProgramIdentity { environment, files };

// Whether dtctl observes the training steps of an own program. automatic: if it is a Python program that reports none itself.
enum class ProgramObservation { automatic, pytorch, none };

// Which processes of a program dtctl starts: all ranks, or on each node one launcher that starts the ranks.
enum class PrintedThroughput { mean, last, max };
enum class ProgramLaunch { per_rank, per_node };

// The program that starts the container in which an own program runs.
enum class ContainerRuntime { apptainer, podman, pyxis };

// Number format in which the layers compute.
enum class Precision { fp32, bf16 };

// Who chooses the algorithms of the convolutions.
enum class AlgorithmChoice { timed, rules, fixed };

// Whether the elastic term is evaluated before or after the local step.
enum class ElasticForm { paper, before, after };

// Who advances messages while the ranks compute.
enum class ProgressMode { automatic, none, poll, thread };

// Number format of the messages of an allreduce.
enum class Wire { float32, bfloat16, int8, int4 };

// Update rule that moves the outer parameters of diloco.
enum class OuterRule { sgd, momentum, nesterov, adam };

// Which ranks are the parameter servers.
enum class ServerPlacement { last, spread };

// How the supernodes of the network are determined.
enum class TopologySource { hosts, probe };

// By what ranks of a program under dtctl_sync exchange.
enum class SyncTransport { automatic, mpi, tcp };

// Which model is evaluated.
enum class EvaluatedModel { automatic, centre, worker, average };

// Scaling studies: `strong` keeps the global batch constant when the number of nodes grows, `weak` the batch of each rank;
// `scaling` is one of them, as the recorded samples of a step tell.
enum class StudyMode { strong, weak, partition, scaling };

// Order of submission.
enum class StudyOrder { random, listed };

// How the runs of a study share jobs.
enum class StudyLayout { separate, ladder };

// A value of an enumeration, its word and one line of help.
template<class Value> struct Choice {
  Value value;
  Name name;
};

// The table of an enumeration: every value once, in the order of the reference.
template<class Value> std::span<const Choice<Value>> choices() = delete;
template<> std::span<const Choice<Engine>> choices<Engine>();
template<> std::span<const Choice<BatchNormSamples>> choices<BatchNormSamples>();
template<> std::span<const Choice<DataOrder>> choices<DataOrder>();
template<> std::span<const Choice<ImageCrop>> choices<ImageCrop>();
template<> std::span<const Choice<CorruptSamples>> choices<CorruptSamples>();
template<> std::span<const Choice<ProgramIdentity>> choices<ProgramIdentity>();
template<> std::span<const Choice<ProgramObservation>> choices<ProgramObservation>();
template<> std::span<const Choice<PrintedThroughput>> choices<PrintedThroughput>();
template<> std::span<const Choice<ProgramLaunch>> choices<ProgramLaunch>();
template<> std::span<const Choice<ContainerRuntime>> choices<ContainerRuntime>();
template<> std::span<const Choice<Precision>> choices<Precision>();
template<> std::span<const Choice<AlgorithmChoice>> choices<AlgorithmChoice>();
template<> std::span<const Choice<ElasticForm>> choices<ElasticForm>();
template<> std::span<const Choice<ProgressMode>> choices<ProgressMode>();
template<> std::span<const Choice<Wire>> choices<Wire>();
template<> std::span<const Choice<OuterRule>> choices<OuterRule>();
template<> std::span<const Choice<ServerPlacement>> choices<ServerPlacement>();
template<> std::span<const Choice<TopologySource>> choices<TopologySource>();
template<> std::span<const Choice<SyncTransport>> choices<SyncTransport>();
template<> std::span<const Choice<EvaluatedModel>> choices<EvaluatedModel>();
template<> std::span<const Choice<StudyMode>> choices<StudyMode>();
template<> std::span<const Choice<StudyOrder>> choices<StudyOrder>();
template<> std::span<const Choice<StudyLayout>> choices<StudyLayout>();
template<> std::span<const Choice<Metric>> choices<Metric>();

template<class Value>
concept HasChoices = requires
{
  choices<Value>();
};

// The words of an enumeration with their help.
template<HasChoices Value> std::span<const Name> choice_names()
{
  static const auto names = [] {
    std::vector<Name> all;
    for (const auto& choice : choices<Value>()) all.push_back(choice.name);
    return all;
  }();
  return names;
}

// The word of a value.
template<HasChoices Value> std::string_view name_of(Value value)
{
  return std::ranges::find(choices<Value>(), value, &Choice<Value>::value)->name.name;
}

// The value with this word, if there is one.
template<HasChoices Value> std::optional<Value> find_choice(std::string_view word)
{
  for (const auto& choice : choices<Value>())
    if (choice.name.name == word) return choice.value;
  return {};
}

[[noreturn]] void refuse_choice(std::string_view word, std::span<const Name> allowed);

// The value with this word. Throws a usage error that lists the words if there is none.
template<HasChoices Value> Value choice_of(std::string_view word)
{
  const auto found = find_choice<Value>(word);
  if (!found) refuse_choice(word, choice_names<Value>());
  return *found;
}

} // namespace dt
