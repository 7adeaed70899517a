#include "core/spec/choices.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <array>
#include <string>

namespace dt {
namespace {

constexpr std::array engines{
    Choice{Engine::onednn, Name{"onednn", "fast kernels: oneDNN's, and ours where they are faster"}},
    Choice{Engine::reference,
           Name{"reference", "plain loops, the layer's formula as it stands: slow, to measure the others against"}},
};
constexpr std::array batch_norms{
    Choice{BatchNormSamples::local, Name{"local", "over each rank's own samples (with train.accumulation, each micro-batch's)"}},
    Choice{BatchNormSamples::synchronized,
           Name{"synchronized", "over the samples of all ranks, with a small sum over them in every layer"}},
};
constexpr std::array program_identities{
    Choice{ProgramIdentity::environment,
           Name{"environment", "the content of program.files, of a program that the command names by an absolute path, and the "
                               "Python interpreter with its installed packages, where they can be asked at the submission"}},
    Choice{ProgramIdentity::files, Name{"files", "the content of program.files alone"}},
};
constexpr std::array program_observations{
    Choice{ProgramObservation::automatic,
           Name{"auto", "pytorch, if the command starts Python and the recipe has neither `program.metrics` nor a block `sync`"}},
    Choice{ProgramObservation::pytorch,
           Name{"pytorch",
                "steps, samples, loss and phases of a PyTorch training, seen from outside; a program that reports steps "
                "by itself is not observed"}},
    Choice{ProgramObservation::none, Name{"none", "nothing; the program reports by itself"}},
};
constexpr std::array printed_throughputs{
    Choice{PrintedThroughput::mean,
           Name{"mean", "of all lines behind the warm-up: all samples by all of the time, so each line counts by the steps for "
                        "which it stands, and lines without a new step are left out. A program that prints it once keeps that"}},
    Choice{PrintedThroughput::last, Name{"last", "the last line, as of a program that prints its own mean at the end"}},
    Choice{PrintedThroughput::max, Name{"max", "the largest of all lines behind the warm-up"}},
};
constexpr std::array program_launches{
    Choice{ProgramLaunch::per_rank, Name{"per-rank", "every rank: dtctl starts the command once for each"}},
    Choice{ProgramLaunch::per_node,
           Name{"per-node",
                "a launcher such as torchrun or accelerate: dtctl starts the command once on each node, and the command "
                "starts the ranks of its node"}},
};
constexpr std::array container_runtimes{
    Choice{ContainerRuntime::apptainer, Name{"apptainer", "Apptainer: `apptainer exec`"}},
    Choice{ContainerRuntime::podman, Name{"podman", "Podman: `podman run`, with the network and the shared memory of the node"}},
    Choice{ContainerRuntime::pyxis,
           Name{"pyxis", "NVIDIA's plugin of Slurm: options of srun, so `resources.launcher` must be srun; dtjob runs in the "
                         "container, too"}},
};
constexpr std::array precisions{
    Choice{Precision::fp32, Name{"fp32", "float32 throughout"}},
    Choice{Precision::bf16,
           Name{"bf16", "activations and the kernels' copies of weights in bfloat16, where the processor computes in it"}},
};
constexpr std::array algorithm_choices{
    Choice{AlgorithmChoice::timed,
           Name{"timed", "the fastest of each convolution, timed at the start of the first run of this kind on this machine"}},
    Choice{AlgorithmChoice::rules, Name{"rules", "rules over shapes decide; nothing is timed"}},
    Choice{AlgorithmChoice::fixed, Name{"fixed", "those that another run has recorded (train.algorithms_from), bit for bit"}},
};
constexpr std::array elastic{
    Choice{ElasticForm::paper, Name{"paper", "as the strategy's paper has it: before, but after for decentralized-easgd"}},
    Choice{ElasticForm::before, Name{"before", "the elastic term is of the weights before the local step"}},
    Choice{ElasticForm::after, Name{"after", "the elastic term is of the weights after the local step"}},
};
constexpr std::array progress{
    Choice{ProgressMode::automatic,
           Name{"auto",
                "thread where every rank has a core to spare, else poll where the allreduce can be polled (not mpi), else none; "
                "the record says which"}},
    Choice{ProgressMode::none, Name{"none", "messages move only while a rank waits for them: nothing overlaps"}},
    Choice{ProgressMode::poll,
           Name{"poll", "a thread on the same cores moves messages on at short intervals while the others compute"}},
    Choice{ProgressMode::thread, Name{"thread", "a thread with a core of its own sends and receives while the others compute"}},
};
constexpr std::array wires{
    Choice{Wire::float32, Name{"float32", "as computed"}},
    Choice{Wire::bfloat16, Name{"bfloat16", "half the bytes, 8 bits of mantissa; sums are kept in float32"}},
    Choice{Wire::int8,
           Name{"int8", "diloco: a quarter of the bytes, whole numbers up to 127 times a scale for each 256 numbers"}},
    Choice{Wire::int4, Name{"int4", "diloco: an eighth of the bytes, whole numbers up to 7 times a scale for each 256 numbers"}},
};
constexpr std::array outer_rules{
    Choice{OuterRule::sgd,
           Name{"sgd", "w <- w - lr d; with learning rate 1 the workers begin again at their mean, as with local-sgd"}},
    Choice{OuterRule::momentum, Name{"momentum", "v <- mu v + d; w <- w - lr v: SlowMo with a constant optimizer.learning_rate"}},
    Choice{OuterRule::nesterov, Name{"nesterov", "v <- mu v + d; w <- w - lr (d + mu v), as in DiLoCo's paper"}},
    Choice{OuterRule::adam,
           Name{"adam", "a rate for each weight, by the running means m and s of d and of its square, bias corrected: "
                        "w <- w - lr m / (sqrt(s) + epsilon); mu is the decay rate of m"}},
};
constexpr std::array placements{
    Choice{ServerPlacement::last, Name{"last", "the last ranks"}},
    Choice{ServerPlacement::spread, Name{"spread", "the last rank of each of the last nodes, one a node"}},
};
constexpr std::array topologies{
    Choice{TopologySource::hosts,
           Name{"hosts", "ranks of one host are near; supernodes are resources.nodes_per_supernode nodes each, if told"}},
    Choice{TopologySource::probe, Name{"probe", "nodes are grouped by the bandwidths between them, measured at the start"}},
};
constexpr std::array transports{
    Choice{SyncTransport::automatic, Name{"auto", "MPI, where it starts the ranks; else TCP"}},
    Choice{SyncTransport::mpi, Name{"mpi", "messages of MPI"}},
    Choice{SyncTransport::tcp, Name{"tcp", "TCP connections of dtctl_sync, also where MPI starts the ranks"}},
};
constexpr std::array evaluated{
    Choice{EvaluatedModel::automatic,
           Name{"auto", "the centre where the strategy has one, else the average where workers differ, else the workers' model"}},
    Choice{EvaluatedModel::centre, Name{"centre", "the centre of an EASGD strategy, or the parameter servers' weights"}},
    Choice{EvaluatedModel::worker, Name{"worker", "rank 0's weights"}},
    Choice{EvaluatedModel::average, Name{"average", "the mean of the workers' weights"}},
};
constexpr std::array data_orders{
    Choice{DataOrder::automatic, Name{"auto", "blocks for packed sets, samples for the others"}},
    Choice{DataOrder::samples,
           Name{"samples", "one random permutation of all samples in each epoch; a packed set is then read in random order"}},
    Choice{DataOrder::blocks, Name{"blocks", "blocks of consecutive samples in random order, and random order within each block; "
                                             "each rank reads whole blocks"}},
    Choice{DataOrder::file, Name{"file", "the order of the file; each rank reads one contiguous part of it"}},
};
constexpr std::array crops{
    Choice{ImageCrop::none, Name{"none", "the whole image; if it is to get another size, its largest square in the centre"}},
    Choice{ImageCrop::pad, Name{"pad", "black edges of `data.pad` pixels are added, and a random part of the image's size is cut "
                                       "out (He 2016)"}},
    Choice{ImageCrop::random_resized,
           Name{"random-resized", "a random part of 8 to 100 % of the area and an aspect ratio of 3/4 to 4/3, resized (Szegedy "
                                  "2015); test images: the central 87.5 %"}},
};
constexpr std::array corrupt_samples{
    Choice{CorruptSamples::refuse, Name{"refuse", "the run fails and names the sample"}},
    Choice{CorruptSamples::skip, Name{"skip", "the next sample of the set takes its place; the result counts such samples"}},
};
constexpr std::array modes{
    Choice{StudyMode::strong, Name{"strong", "the global batch stays, so the work a rank shrinks as ranks grow"}},
    Choice{StudyMode::weak, Name{"weak", "the batch a rank stays, so the global batch grows with the ranks"}},
    Choice{StudyMode::partition,
           Name{"partition", "the cores and the global batch stay; the cores are divided into more or fewer parts"}},
    Choice{StudyMode::scaling,
           Name{"scaling", "of a program of your own: strong or weak, as the samples tell that it reports of its steps"}},
};
constexpr std::array orders{
    Choice{StudyOrder::random,
           Name{"random",
                "each round of repeats shuffled by `study.seed`, so that a drift of the machine does not look like scaling"}},
    Choice{StudyOrder::listed, Name{"listed", "as expanded: points of the sweep, sizes, repeats"}},
};
constexpr std::array layouts{
    Choice{StudyLayout::separate, Name{"separate", "a job for each run"}},
    Choice{StudyLayout::ladder,
           Name{"ladder", "one allocation of the largest size; all sizes run in it in turn, each on the first of its nodes"}},
};
constexpr auto metric_choices = [] {
  std::array<Choice<Metric>, metric_words.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {metric_words[i].metric, metric_words[i].name};
  return all;
}();

} // namespace

template<> std::span<const Choice<Engine>> choices<Engine>() { return engines; }
template<> std::span<const Choice<BatchNormSamples>> choices<BatchNormSamples>() { return batch_norms; }
template<> std::span<const Choice<DataOrder>> choices<DataOrder>() { return data_orders; }
template<> std::span<const Choice<ImageCrop>> choices<ImageCrop>() { return crops; }
template<> std::span<const Choice<CorruptSamples>> choices<CorruptSamples>() { return corrupt_samples; }
template<> std::span<const Choice<ProgramIdentity>> choices<ProgramIdentity>() { return program_identities; }
template<> std::span<const Choice<ProgramObservation>> choices<ProgramObservation>() { return program_observations; }
template<> std::span<const Choice<PrintedThroughput>> choices<PrintedThroughput>() { return printed_throughputs; }
template<> std::span<const Choice<ProgramLaunch>> choices<ProgramLaunch>() { return program_launches; }
template<> std::span<const Choice<ContainerRuntime>> choices<ContainerRuntime>() { return container_runtimes; }
template<> std::span<const Choice<Precision>> choices<Precision>() { return precisions; }
template<> std::span<const Choice<AlgorithmChoice>> choices<AlgorithmChoice>() { return algorithm_choices; }
template<> std::span<const Choice<ElasticForm>> choices<ElasticForm>() { return elastic; }
template<> std::span<const Choice<ProgressMode>> choices<ProgressMode>() { return progress; }
template<> std::span<const Choice<Wire>> choices<Wire>() { return wires; }
template<> std::span<const Choice<OuterRule>> choices<OuterRule>() { return outer_rules; }
template<> std::span<const Choice<ServerPlacement>> choices<ServerPlacement>() { return placements; }
template<> std::span<const Choice<TopologySource>> choices<TopologySource>() { return topologies; }
template<> std::span<const Choice<SyncTransport>> choices<SyncTransport>() { return transports; }
template<> std::span<const Choice<EvaluatedModel>> choices<EvaluatedModel>() { return evaluated; }
template<> std::span<const Choice<StudyMode>> choices<StudyMode>() { return modes; }
template<> std::span<const Choice<StudyOrder>> choices<StudyOrder>() { return orders; }
template<> std::span<const Choice<StudyLayout>> choices<StudyLayout>() { return layouts; }
template<> std::span<const Choice<Metric>> choices<Metric>() { return metric_choices; }

namespace {

std::vector<Name> metric_names_with(bool MetricWord::*property)
{
  std::vector<Name> names;
  for (const auto& word : metric_words)
    if (word.*property) names.push_back(word.name);
  return names;
}

} // namespace

std::span<const Name> race_metric_names()
{
  static const auto names = metric_names_with(&MetricWord::is_raced);
  return names;
}

std::span<const Name> tune_metric_names()
{
  static const auto names = metric_names_with(&MetricWord::is_tuned);
  return names;
}

void refuse_choice(std::string_view word, std::span<const Name> allowed)
{
  throw Error(ErrorKind::usage, "`" + printable(word) + "` must be one of " + join(strings_of(allowed), ", ") + ".");
}

} // namespace dt
