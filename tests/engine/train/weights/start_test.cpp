// A new run that begins where another one was: with its weights, over other ranks, strategies and rules, or with an archive's.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "engine/train/weights/npz.hpp"
#include "engine/train/weights/safetensors.hpp"
#include "tests/engine/train/weights/hostile_files.hpp"
#include "tests/support/engine_run.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <optional>

#include <fmt/format.h>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::EngineRun;
using dt::train::CheckpointReader;
using dt::train::TensorName;

namespace {

using Tensors = std::vector<std::pair<TensorName, std::vector<float>>>;

Tensors read_group(const fs::path& checkpoint, const std::string& group)
{
  const CheckpointReader reader(checkpoint);
  Tensors tensors;
  for (const auto& tensor : reader.tensors(group)) {
    tensors.push_back({tensor, std::vector<float>(dt::train::element_count(tensor.dims))});
    reader.read(group + "/" + tensor.name, tensor.dims, tensors.back().second);
  }
  return tensors;
}

Tensors read_file(const dt::train::WeightsFile& file)
{
  Tensors tensors;
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({tensor, std::vector<float>(dt::train::element_count(tensor.dims))});
    file.read(tensors.size() - 1, tensors.back().second);
  }
  return tensors;
}

Tensors read_archive(const fs::path& path) { return read_file(dt::train::NpzReader(path)); }

dt::RunSpec short_spec(std::int64_t ranks, std::int64_t steps)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.train.global_batch = 24;
  spec.train.steps = steps;
  spec.train.warmup_steps = 0;
  spec.train.final_checkpoint = true;
  return spec;
}

// The weights after its step are those before it, bit for bit.
dt::RunSpec standing_still(std::int64_t ranks)
{
  auto spec = short_spec(ranks, 1);
  spec.optimizer.name = "sgd";
  spec.optimizer.learning_rate = 0;
  return spec;
}

// A run that has ended, with its last checkpoint.
struct Ended {
  Ended(dt::RunSpec spec, const fs::path& start_from)
      : run(with_start(std::move(spec), start_from)), ranks(run.planned().spec.ranks())
  {
    run.planned().start_id = start_from.empty() ? "" : dt::start_id(start_from);
    run.write_spec();
    end = run.run(static_cast<int>(ranks));
    result = dt::read_result(run.attempt());
  }
  explicit Ended(dt::RunSpec spec) : Ended(std::move(spec), "") {}
  static dt::RunSpec with_start(dt::RunSpec spec, const fs::path& start_from)
  {
    spec.train.start_from = start_from.string();
    return spec;
  }
  fs::path checkpoint() const
  {
    const auto all = dt::train::list_checkpoints(run.attempt().checkpoints());
    INFO(end.out << end.err);
    REQUIRE_FALSE(all.empty());
    return all.front();
  }
  EngineRun run;
  std::int64_t ranks;
  dt::CommandResult end;
  std::optional<dt::RunResult> result;
};

std::vector<float> velocity_of(const Ended& run)
{
  std::vector<float> all;
  for (const auto& [tensor, values] : read_group(run.checkpoint(), "optimizer/velocity"))
    all.insert(all.end(), values.begin(), values.end());
  return all;
}

dt::CommandResult export_weights(const fs::path& checkpoint, const std::vector<std::string>& more)
{
  std::vector<std::string> words{dt::test::dtengine(), "export-weights", checkpoint.string()};
  words.insert(words.end(), more.begin(), more.end());
  return dt::run_command(words, 60);
}

} // namespace

TEST_CASE("a final checkpoint is of the last step and holds the weights of the result, and a run without it leaves none")
{
  auto spec = short_spec(2, 7);
  const Ended with(spec);
  spec.train.final_checkpoint = false;
  const Ended without(spec);
  REQUIRE((with.result && without.result));
  CHECK(CheckpointReader(with.checkpoint()).progress().step == 7);
  CHECK(CheckpointReader(with.checkpoint()).owner().optimizer == "momentum");
  CHECK_FALSE(fs::exists(without.run.attempt().checkpoints()));
}

TEST_CASE("a new run begins with another's weights, on other ranks, threads and under another rule and strategy, at step 0")
{
  const Ended first(short_spec(2, 5));
  const auto weights = read_group(first.checkpoint(), "weights");
  REQUIRE(weights.size() == 10);
  CHECK(weights[0].first == TensorName{"conv1.weight", {6, 1, 5, 5}});
  for (const auto& [ranks, strategy] :
       {std::pair{1, "sync-sgd"}, {3, "sync-sgd"}, {2, "local-sgd"}, {2, "diloco"}, {2, "sync-easgd"}, {3, "async-sgd"}}) {
    CAPTURE(ranks, strategy);
    auto spec = standing_still(ranks);
    spec.sync.strategy = strategy;
    if (spec.sync.strategy == "sync-easgd") spec.sync.alpha = 0.4;
    const Ended second(spec, first.checkpoint());
    INFO(second.end.out << second.end.err);
    REQUIRE(second.result);
    CHECK(second.result->steps == 1);
    const CheckpointReader reader(second.checkpoint());
    CHECK(read_group(second.checkpoint(), dt::train::model_group(reader)) == weights);
    CHECK(second.result->facts.at("started_from") == "step 5 of run " + dt::short_key(first.run.planned().key) + ": weights");
  }
}

TEST_CASE("the optimizer's buffers are taken too where the rule is the same, and begin at zero where it is not")
{
  const Ended first(short_spec(1, 5));
  const dt::test::TemporaryFolder folder;
  const auto archive = folder.path() / "weights.npz";
  REQUIRE(export_weights(first.checkpoint(), {"-o", archive.string()}).ok());
  auto same = standing_still(2);
  same.optimizer.name = "momentum";
  const Ended with(same, first.checkpoint()), without(same, archive);
  REQUIRE(with.result);
  REQUIRE(without.result);
  CHECK_THAT(with.result->facts.at("started_from"), Catch::EndsWith(": weights and the optimizer's buffers"));
  const auto before = velocity_of(first), after = velocity_of(with), from_zero = velocity_of(without);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    REQUIRE(after[i] == Approx(from_zero[i] + 0.9 * before[i]).epsilon(1e-4).margin(1e-6));
  CHECK(read_group(Ended(standing_still(1), first.checkpoint()).checkpoint(), "optimizer").empty());
}

TEST_CASE("where ranks differed, a run begins with their centre, or with the mean of the workers")
{
  for (const auto& [strategy, group] : {std::pair{"sync-easgd", "strategy/centre"},
                                        {"diloco", "strategy/centre"},
                                        {"local-sgd", "model"},
                                        {"async-sgd", "model"}}) {
    CAPTURE(strategy);
    auto spec = short_spec(3, 5);
    spec.sync.strategy = strategy;
    spec.optimizer.name = "sgd";
    spec.sync.period = 4;
    if (spec.sync.strategy == "sync-easgd") spec.sync.alpha = 0.3;
    const Ended first(spec);
    INFO(first.end.out << first.end.err);
    REQUIRE(first.result);
    const auto model = read_group(first.checkpoint(), group);
    REQUIRE(model.size() == 10);
    CHECK(read_group(Ended(standing_still(1), first.checkpoint()).checkpoint(), "weights") == model);
    if (std::string(strategy) != "local-sgd") continue;
    for (std::size_t k = 0; k < model[0].second.size(); ++k) {
      double sum = 0;
      for (int rank = 0; rank < 3; ++rank)
        sum += read_group(first.checkpoint(), fmt::format("ranks/{}/weights", rank))[0].second[k];
      CHECK(model[0].second[k] == Approx(sum / 3).epsilon(1e-5).margin(1e-7));
    }
  }
}

TEST_CASE("weights exported from a checkpoint come back into a run, bit for bit, from both formats")
{
  const Ended first(short_spec(1, 3));
  const dt::test::TemporaryFolder folder;
  const auto weights = read_group(first.checkpoint(), "weights");
  for (const std::string name : {"weights.npz", "weights.safetensors"}) {
    CAPTURE(name);
    const auto path = folder.path() / name;
    const auto said = export_weights(first.checkpoint(), {"-o", path.string()});
    INFO(said.err);
    REQUIRE(said.ok());
    CHECK_THAT(said.out, Contains("step 3") && Contains("10 tensors"));
    if (path.extension() == ".npz")
      CHECK(read_archive(path) == weights);
    else
      CHECK(read_file(dt::train::SafetensorsReader(std::make_unique<dt::train::InputFile>(path))) == weights);
    const Ended second(standing_still(2), path);
    INFO(second.end.out << second.end.err);
    REQUIRE(second.result);
    CHECK(second.result->facts.at("started_from") == "weights in " + name);
    CHECK(read_group(second.checkpoint(), "weights") == weights);
  }
}

TEST_CASE("a name with another ending is refused by an export and by a start, with both formats")
{
  const Ended run(short_spec(1, 1));
  const dt::test::TemporaryFolder folder;
  const auto path = (folder.path() / "w.pt").string();
  const auto exported = export_weights(run.checkpoint(), {"-o", path});
  dt::write_file_atomic(path, "weights");
  const auto start = dt::run_command({dt::test::dtengine(), "start", "lenet", "--file", path}, 60);
  CHECK(exported.exit_code == 2);
  CHECK(exported.err == "dtengine: " + path + ": weights are written to files whose names end in .safetensors or .npz.\n");
  CHECK(start.exit_code == 2);
  CHECK_THAT(start.err, Contains("read " + path + ": weights are read from files whose names end in .safetensors or .npz."));
}

TEST_CASE("an export lists, names what is exported, and replaces nothing unasked")
{
  const Ended run(short_spec(1, 1));
  const dt::test::TemporaryFolder folder;
  const auto archive = folder.path() / "w.npz";
  CHECK_THAT(export_weights(run.checkpoint(), {"--list"}).out, Catch::StartsWith("conv1.weight\t6x1x5x5\nconv1.bias\t6\n"));
  REQUIRE(export_weights(run.checkpoint(), {"-o", archive.string(), "--what", "optimizer"}).ok());
  CHECK(read_archive(archive)[0].first.name == "optimizer/velocity/conv1.weight");
  const auto bytes = dt::read_file(archive);
  const auto again = export_weights(run.checkpoint(), {"-o", archive.string()});
  CHECK(again.exit_code == 2);
  CHECK(again.err == "dtengine: " + archive.string() + " exists already. Name another file, or give --force to replace it.\n");
  CHECK(dt::read_file(archive) == bytes);
  CHECK(export_weights(run.checkpoint(), {"-o", archive.string(), "--force"}).ok());
  CHECK(read_archive(archive)[0].first.name == "conv1.weight");
  const auto nothing = export_weights(run.checkpoint(), {"--list", "--what", "strategy"});
  CHECK(nothing.exit_code == 1);
  CHECK(nothing.err == "dtengine: " + run.checkpoint().string() + " holds no buffers of the strategy.\n");
  CHECK(export_weights(run.checkpoint(), {}).exit_code == 2);
}

TEST_CASE("a start that does not fit the model is refused with the first tensor and both shapes")
{
  const Ended first(short_spec(1, 1));
  auto wider = standing_still(1);
  wider.data.classes = 12;
  const Ended second(wider, first.checkpoint());
  CHECK_FALSE(second.result);
  CHECK_THAT(second.end.err, Contains("train.start_from: " + first.checkpoint().string() +
                                      " does not fit the model: tensor fc3.weight is 10x84 in the file and 12x84 in the model."));
  const dt::test::TemporaryFolder folder;
  const auto archive = folder.path() / "w.npz";
  dt::train::NpzWriter writer;
  writer.add({"conv1.weight", {6, 1, 5, 5}}, std::vector<float>(150));
  dt::write_file_atomic(archive, writer.finish());
  CHECK_THAT(Ended(standing_still(1), archive).end.err, Contains("it has no tensor conv1.bias, which is 6 in the model."));
}

TEST_CASE("weights that are NaN or infinite are refused by an export with status 2, and by a run that would begin with them")
{
  const Ended first(short_spec(1, 1));
  const dt::test::TemporaryFolder folder;
  const auto archive = folder.path() / "w.npz", plain = folder.path() / "w.safetensors", out = folder.path() / "out.npz";
  for (const auto& [value, name] :
       {std::pair{std::numeric_limits<float>::quiet_NaN(), "NaN"}, {-std::numeric_limits<float>::infinity(), "infinite"}}) {
    CAPTURE(name);
    auto weights = read_group(first.checkpoint(), "weights");
    std::vector<TensorName> names, full_names;
    for (const auto& [tensor, values] : weights) {
      names.push_back(tensor);
      full_names.push_back({"weights/" + tensor.name, tensor.dims});
    }
    dt::train::CheckpointWriter checkpoint(folder.path(), CheckpointReader(first.checkpoint()).owner(), {.step = 1}, full_names);
    dt::train::NpzWriter npz;
    auto bytes = dt::train::safetensors_header(names, {});
    for (auto& [tensor, values] : weights) {
      if (tensor.name == "fc1.bias") values.at(7) = value;
      checkpoint.write("weights/" + tensor.name, values);
      npz.add(tensor, values);
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
    const auto path = checkpoint.commit().path;
    dt::write_file_atomic(archive, npz.finish());
    dt::write_file_atomic(plain, bytes);
    const auto why = fmt::format("fc1.bias: value 7 of 120 is {}; only finite weights are taken.", name);
    const auto end = export_weights(path, {"-o", out.string()});
    CHECK(end.exit_code == 2);
    CHECK(end.err == "dtengine: read " + path.string() + ": tensor weights/" + why + "\n");
    CHECK_FALSE(fs::exists(out));
    for (const auto& file : {path, archive, plain})
      CHECK_THAT(Ended(standing_still(1), file).end.err, Contains(file.string()) && Contains(why));
  }
}

TEST_CASE("a start that was replaced since the run was planned is refused")
{
  const Ended first(short_spec(1, 1));
  auto spec = standing_still(1);
  spec.train.start_from = first.checkpoint().string();
  const EngineRun second(spec); // with the content of nothing
  const auto end = second.run(1);
  CHECK_FALSE(end.ok());
  CHECK_THAT(end.err,
             Contains("train.start_from: " + spec.train.start_from +
                      " has another content than when this run was planned. Submit the recipe again: it becomes a new run."));
}

TEST_CASE("a limit of a file's size ends an export and the making of data with status 74 and leaves nothing half done")
{
  const Ended run(short_spec(1, 1));
  const dt::test::TemporaryFolder folder;
  const auto archive = folder.path() / "w.npz", digits = folder.path() / "digits";
  const auto called = [](const std::string& limit, const std::string& words) {
    return dt::run_command({"bash", "-c", limit + dt::test::dtengine() + " " + words}, 60);
  };
  const auto exported = called("ulimit -f 16; ", "export-weights " + run.checkpoint().string() + " -o " + archive.string());
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err, Contains(archive.string()));
  CHECK(fs::is_empty(folder.path()));
  const auto make = "data make digits --train 300 --test 100 --out " + digits.string();
  CHECK(called("ulimit -f 16; ", make).exit_code == 74);
  CHECK(called("", make).ok());
}

TEST_CASE("a limit of a file's size costs a training its checkpoint, or ends it with the file's name, and never by a signal")
{
  const auto limited = [](const EngineRun& run, const std::string& kib) {
    auto words = EngineRun::launch(1);
    for (const std::string& word : {std::string("bash"), std::string("-c"), "ulimit -f " + kib + "; exec \"$0\" \"$@\""})
      words.push_back(word);
    for (const auto& word : run.engine()) words.push_back(word); // mpirun itself has no limit
    return dt::run_command(words, 120);
  };
  const EngineRun unsaved(short_spec(1, 2)), unwritten(short_spec(1, 2));
  const auto end = limited(unsaved, "200");
  INFO(end.out << end.err);
  CHECK(end.ok());
  CHECK_THAT(end.err,
             Contains("write " + (unsaved.attempt().checkpoints() / ".step-2.safetensors").string() + ": File too large"));
  CHECK(fs::is_empty(unsaved.attempt().checkpoints()));
  CHECK(dt::read_result(unsaved.attempt()));
  CHECK(limited(unwritten, "16").exit_code == 1);
  const auto error = dt::read_error(unwritten.attempt());
  REQUIRE(error);
  CHECK(error->cause == "write " + unwritten.attempt().reserve().string() + ": File too large");
  CHECK_FALSE(fs::exists(unwritten.attempt().result()));
}

TEST_CASE("a training that diverges names the checkpoint to go back to, and leaves no result")
{
  auto spec = dt::test::small_lenet(2, 240);
  spec.train.global_batch = 24;
  spec.train.steps = 200;
  spec.optimizer.learning_rate = 1e6;
  const EngineRun run(spec);
  const auto checkpoint = dt::train::CheckpointWriter(run.attempt(1).checkpoints(), {}, {.step = 3}, {}).commit().path;
  const auto end = run.run(2, 2);
  CHECK(end.exit_code == 1);
  const auto error = dt::read_error(run.attempt(2));
  REQUIRE(error);
  CHECK(error->step >= 2);
  CHECK_THAT(error->cause, Contains(". Last good checkpoint: " + checkpoint.string() + "."));
  CHECK_THAT(end.err, Contains(error->cause));
  CHECK_FALSE(fs::exists(run.attempt(2).result()));
}
