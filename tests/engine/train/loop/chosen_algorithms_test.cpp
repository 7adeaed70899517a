// How all ranks come to one choice of algorithms, and trainings with it.
#include "engine/train/loop/chosen_algorithms.hpp"

#include "engine/train/loop/trainer.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/support/engine_run.hpp"

#include <catch2/catch.hpp>

namespace comm = dt::comm;
namespace nn = dt::nn;
using namespace dt::train;
using dt::Algorithm;
using dt::AlgorithmChoice;
using dt::Algorithms;

namespace {

const nn::NetworkOptions lenet{.model = "lenet", .batch = 16};
// Not the rule's for this batch, which is image lanes.
const Algorithms channels_last{{"conv1", {Algorithm::channels_last, Algorithm::direct, Algorithm::direct}},
                               {"conv2", {Algorithm::direct, Algorithm::channels_last, Algorithm::direct}}};

dt::TrainSpec choosing(AlgorithmChoice how)
{
  dt::TrainSpec train;
  train.algorithms = how;
  return train;
}

dt::RunSpec small_run(int ranks)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.train.algorithms = AlgorithmChoice::timed;
  spec.train.global_batch = 48;
  spec.train.steps = 6;
  spec.train.warmup_steps = 2;
  return spec;
}

struct Trained {
  dt::RunResult result;
  Algorithms algorithms;
};

Trained trained(const dt::RunSpec& spec, comm::Communicator& comm, std::optional<RecordedAlgorithms> recorded = {})
{
  Trainer trainer({.spec = spec, .data_folder = {}, .recorded_algorithms = std::move(recorded)}, comm);
  Observer nobody_looks;
  Overseer nobody;
  return {trainer.run(nobody_looks, nobody).value(), trainer.algorithms()};
}

std::string refusal(const Algorithms& list, const Algorithms& built)
{
  auto train = choosing(AlgorithmChoice::fixed);
  train.algorithm_list = algorithm_lines(list);
  return dt::test::refusal(dt::ErrorKind::run, [&] { require_fixed_algorithms(train, built); });
}

} // namespace

TEST_CASE("all ranks take the choice that rank 0 has timed")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto chosen = choose_algorithms(choosing(AlgorithmChoice::timed), lenet, {}, comm);
  CHECK(chosen.algorithms.size() == 2);
  CHECK(comm.all_equal(to_json(chosen.algorithms)));
  CHECK(chosen.how == "timed");
  CHECK((chosen.seconds > 0) == comm.is_root());
}

TEST_CASE("a second choice with the same cache times nothing and is the same")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const dt::test::TemporaryFolder folder;
  const AlgorithmSources sources{.cache = folder.path()};
  const auto first = choose_algorithms(choosing(AlgorithmChoice::timed), lenet, sources, comm);
  const auto second = choose_algorithms(choosing(AlgorithmChoice::timed), lenet, sources, comm);
  CHECK(second.how == "timed by an earlier run");
  CHECK(second.algorithms == first.algorithms);
}

TEST_CASE("what an earlier attempt has recorded on rank 0 comes before new timings, on all ranks")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  AlgorithmSources sources;
  if (comm.is_root()) sources.recorded = {channels_last, 3};
  const auto chosen = choose_algorithms(choosing(AlgorithmChoice::timed), lenet, sources, comm);
  CHECK(chosen.algorithms == channels_last);
  CHECK(chosen.how == "as attempt 3 has recorded");
}

TEST_CASE("rules and a fixed list are the same on every rank without a word between them")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  CHECK(choose_algorithms(choosing(AlgorithmChoice::rules), lenet, {}, comm).algorithms.empty());
  auto train = choosing(AlgorithmChoice::fixed);
  train.algorithm_list = algorithm_lines(channels_last);
  CHECK(choose_algorithms(train, lenet, {}, comm).algorithms == channels_last);
  auto loops = lenet;
  loops.reference = true;
  CHECK(choose_algorithms(choosing(AlgorithmChoice::timed), loops, {}, comm).how.empty());
}

TEST_CASE("a training with the list that a timed one has used ends in the same bits")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto spec = small_run(comm.size());
  const auto timed = trained(spec, comm);
  CHECK(timed.algorithms.size() == 2);
  spec.train.algorithms = AlgorithmChoice::fixed;
  spec.train.algorithm_list = algorithm_lines(timed.algorithms);
  const auto fixed = trained(spec, comm);
  CHECK(fixed.result.weights_hash == timed.result.weights_hash);
  CHECK(fixed.algorithms == timed.algorithms);
  CHECK(fixed.result.facts.at("algorithms") == "fixed: " + in_words(timed.algorithms));
  if (comm.is_root()) CHECK(timed.result.choice_s > 0);
  CHECK(fixed.result.choice_s == 0);
}

TEST_CASE("a training computes with what an earlier attempt has recorded")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  std::optional<RecordedAlgorithms> recorded;
  if (comm.is_root()) recorded = {channels_last, 1};
  CHECK(trained(small_run(comm.size()), comm, recorded).algorithms == channels_last);
}

TEST_CASE("a list that the network cannot repeat is refused with the convolution and both choices")
{
  const std::string advice = " Train with train.algorithms: timed, or where the list was recorded.";
  const Algorithms direct{{"conv1", {}}, {"conv2", {}}};
  CHECK(refusal(direct, direct).empty());
  CHECK(
      refusal(channels_last, direct) ==
      "train.algorithms: fixed: The list has channels-last, direct, direct for convolution conv1, but on this processor it would "
      "be direct, direct, direct (forward, backward to the data, backward to the weights)." +
          advice);
  CHECK(refusal({{"conv1", {}}}, direct) ==
        "train.algorithms: fixed: The list has no algorithms for convolution conv2." + advice);
  CHECK(refusal({{"conv1", {}}, {"conv2", {}}, {"stem", {}}}, direct) ==
        "train.algorithms: fixed: The list names stem, which is no convolution of the network." + advice);
}
