// Checkpoint files: layout, wholeness, refusal of what was altered, and which of several is taken up.
#include "core/files/file.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "engine/train/weights/safetensors.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/engine/train/weights/checkpoint_samples.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::train;
using namespace dt::train::test;
using Catch::Contains;
using dt::test::refusal_behind;
namespace fs = std::filesystem;

namespace {

TrainingProgress progress_at(std::int64_t step)
{
  return {.step = step,
          .seed = 7,
          .epoch = 0.1,
          .learning_rate = 1.0 / 3,
          .wall_s = 12.5,
          .evaluation_s = 1.25,
          .checkpoint_s = 0.125,
          .measured_samples = 1920,
          .measured_s = 10.5,
          .communication_s = 2.5,
          .work = {20, 11, 12, 13, 9, 8},
          .loss = 0.7,
          .best_accuracy = 0.9};
}

fs::path write_checkpoint(const fs::path& folder, std::int64_t step, const CheckpointOwner& whose = owner)
{
  return write_tensors(folder, progress_at(step), {{"weights/conv1.weight", dims}}, numbers(static_cast<float>(step)), whose);
}

std::vector<std::string> file_names_in(const fs::path& folder)
{
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Attempts of one run, each with its folder.
struct Run {
  dt::AttemptFolder attempt(int number) const
  {
    const dt::AttemptFolder attempt(folder.path(), number);
    dt::make_folders(attempt.path());
    return attempt;
  }
  dt::test::TemporaryFolder folder;
};

} // namespace

TEST_CASE("a checkpoint gives back owner, progress and tensors bit for bit")
{
  const dt::test::TemporaryFolder folder;
  const auto path = write_checkpoint(folder.path() / "checkpoints", 120);
  CHECK(path.filename() == "step-120.safetensors");
  const CheckpointReader reader(path);
  CHECK(reader.owner() == owner);
  const auto& progress = reader.progress();
  CHECK(progress.step == 120);
  const auto written = progress_at(120);
  for (const auto member : {&TrainingProgress::epoch, &TrainingProgress::learning_rate, &TrainingProgress::wall_s,
                            &TrainingProgress::evaluation_s, &TrainingProgress::checkpoint_s, &TrainingProgress::measured_s,
                            &TrainingProgress::communication_s, &TrainingProgress::best_accuracy})
    CHECK(progress.*member == written.*member);
  CHECK(progress.seed == 7);
  CHECK(progress.measured_samples == 1920);
  CHECK(progress.work.useful_fast_s == 9);
  CHECK(progress.work.useful_step_fast_s == 8);
  CHECK(progress.loss == 0.7);
  CHECK(std::isnan(progress.accuracy));
  CHECK(std::isnan(progress.time_to_accuracy_s));
  std::vector<float> values(12);
  reader.read("weights/conv1.weight", dims, values);
  CHECK(values == numbers(120));
}

TEST_CASE("any safetensors program finds tensors by name with their plain dimensions, and counters in the metadata")
{
  const dt::test::TemporaryFolder folder;
  const SafetensorsReader reader(std::make_unique<InputFile>(write_checkpoint(folder.path(), 3)));
  CHECK(reader.tensors() == std::vector<TensorName>{{"weights/conv1.weight", dims}});
  CHECK(reader.metadata().at("format") == "dtctl checkpoint 1");
  CHECK(reader.metadata().at("step") == "3");
  CHECK(reader.metadata().at("learning_rate") == "0.3333333333333333");
  CHECK(reader.metadata().at("accuracy") == "nan");
}

TEST_CASE("a writer takes the tensors that its header names, all of them and in their order")
{
  const dt::test::TemporaryFolder folder;
  CheckpointWriter writer(folder.path(), owner, progress_at(3), {{"weights/a", dims}, {"weights/b", dims}});
  CHECK_THROWS_WITH(writer.write("weights/b", numbers()), Contains("weights/b of 12 values is not the one that the header has"));
  CHECK_THROWS_WITH(writer.write("weights/a", std::vector<float>(11)), Contains("weights/a of 11 values is not the one"));
  writer.write("weights/a", numbers());
  CHECK_THROWS_WITH(writer.commit(), Contains("1 of 2 tensors were written."));
}

TEST_CASE("a checkpoint in which any one byte was altered is refused")
{
  const dt::test::TemporaryFolder folder;
  const auto path = write_checkpoint(folder.path(), 3);
  const auto whole = dt::read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto altered = whole;
    altered[i] = static_cast<char>(altered[i] ^ 4);
    std::ofstream(path, std::ios::binary) << altered;
    CAPTURE(i);
    REQUIRE_THROWS_WITH(CheckpointReader(path), "read " + path.string() +
                                                    ": the file is torn or was altered: its content does not have the hash in "
                                                    "its header.");
  }
}

TEST_CASE(
    "a file that is no checkpoint is refused as such, and a checkpoint that is cut short or altered as torn whatever its name")
{
  const dt::test::TemporaryFolder folder;
  const auto path = folder.path() / "copy.safetensors";
  const auto refused_with = [&](const std::string& bytes) {
    dt::write_file_atomic(path, bytes);
    return refusal_behind("read " + path.string() + ": ", ErrorKind::usage, [&] { CheckpointReader reader(path); });
  };
  const std::string png = "\x89PNG\r\n\x1a\n" + std::string(4, '\0') + "IHDR" + std::string(200, '\x7f');
  const std::string weights =
      "\x40" + std::string(7, '\0') + R"({"conv1.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}      )";
  for (const auto& bytes : {std::string("batch: 64\n"), std::string(5000, 'x'), png, weights, std::string()})
    CHECK(refused_with(bytes) ==
          "the file is no checkpoint. A file step-<number>.safetensors is expected, which a run has written "
          "into attempts/<number>/checkpoints/ of its folder.");
  const auto named = write_checkpoint(folder.path(), 3);
  const auto whole = dt::read_file(named);
  for (const std::size_t size : {0, 7}) { // too short for a hash, but of a checkpoint by name
    dt::write_file_atomic(named, whole.substr(0, size));
    CHECK_THROWS_WITH(CheckpointReader(named), Contains("the file is torn"));
  }
  fs::remove(named);
  CHECK_THROWS_WITH(CheckpointReader(named), "open " + named.string() + ": No such file or directory");
  auto altered = whole;
  altered[12] = 'x';
  for (const auto& bytes : {whole.substr(0, 12), whole.substr(0, 100), whole.substr(0, whole.size() - 1), altered})
    CHECK_THAT(refused_with(bytes), Catch::StartsWith("the file is torn"));
  CHECK(refused_with(whole).empty());
}

TEST_CASE("the tensors of a group are told with their dimensions in the order in which they were written")
{
  const dt::test::TemporaryFolder folder;
  const std::vector<std::int64_t> flat{12};
  const CheckpointReader reader(write_tensors(
      folder.path(), progress_at(3), {{"weights/z", dims}, {"weights/a", flat}, {"optimizer/velocity/z", dims}}, numbers()));
  CHECK(reader.tensors("weights") == std::vector<TensorName>{{"z", dims}, {"a", flat}});
  CHECK(reader.tensors("optimizer") == std::vector<TensorName>{{"velocity/z", dims}});
  CHECK(reader.tensors("ranks/0/weights").empty());
}

TEST_CASE("the one model is the weights, else the centre, else the group for it, and without any it is refused")
{
  const dt::test::TemporaryFolder folder;
  const auto holding = [&](std::vector<std::string> groups) {
    std::vector<TensorName> tensors;
    for (const auto& group : groups) tensors.push_back({group + "/w", dims});
    return model_group(CheckpointReader(write_tensors(folder.path(), progress_at(3), tensors, numbers())));
  };
  CHECK(holding({"weights", "optimizer/velocity"}) == "weights");
  CHECK(holding({"ranks/0/weights", "strategy/centre"}) == "strategy/centre");
  CHECK(holding({"ranks/0/weights", "model"}) == "model");
  CHECK_THROWS_WITH(holding({"ranks/0/weights"}), Contains("it holds each rank's own weights and no model of them all."));
}

TEST_CASE("a tensor of another name or of other dimensions is refused")
{
  const dt::test::TemporaryFolder folder;
  const CheckpointReader reader(write_checkpoint(folder.path(), 3));
  const auto refused_with = [&](const std::string& name, const std::vector<std::int64_t>& other_dims) {
    std::vector<float> values(12);
    return refusal_behind("read " + reader.path().string() + ": ", ErrorKind::usage,
                          [&] { reader.read(name, other_dims, values); });
  };
  CHECK(refused_with("weights/conv9.weight", dims) == "tensor weights/conv9.weight is expected, but is not there.");
  CHECK(refused_with("weights/conv1.weight", {3, 2, 1, 2}) ==
        "tensor weights/conv1.weight is 2x3x1x2 in the file; 3x2x1x2 is expected.");
}

TEST_CASE("a checkpoint that is not committed leaves nothing behind")
{
  const dt::test::TemporaryFolder folder;
  {
    CheckpointWriter writer(folder.path(), owner, progress_at(3), {{"weights/conv1.weight", dims}});
    writer.write("weights/conv1.weight", numbers(1));
  }
  CHECK(file_names_in(folder.path()).empty());
}

TEST_CASE("pruning keeps the latest and removes what a killed writer left")
{
  const dt::test::TemporaryFolder folder;
  for (const int step : {9, 10, 100}) write_checkpoint(folder.path(), step);
  dt::write_file_atomic(folder.path() / ".step-101.safetensors", "half");
  dt::write_file_atomic(folder.path() / "notes.txt", "somebody's");
  prune_checkpoints(folder.path(), 2);
  CHECK(file_names_in(folder.path()) == std::vector<std::string>{"notes.txt", "step-10.safetensors", "step-100.safetensors"});
}

TEST_CASE("the checkpoint of most steps among earlier attempts is taken up")
{
  const Run run;
  write_checkpoint(run.attempt(1).checkpoints(), 9);
  write_checkpoint(run.attempt(1).checkpoints(), 10);
  write_checkpoint(run.attempt(3).checkpoints(), 2);
  write_checkpoint(run.attempt(5).checkpoints(), 99);
  std::vector<std::string> refused;
  CHECK(find_checkpoint(run.attempt(4), owner, refused)->path() == run.attempt(1).checkpoints() / "step-10.safetensors");
  CHECK(find_checkpoint(run.attempt(1), owner, refused) == std::nullopt);
  CHECK(find_checkpoint(run.attempt(6), owner, refused)->progress().step == 99);
  CHECK(refused.empty());
}

TEST_CASE("an altered checkpoint is passed over for the older one, and told")
{
  const Run run;
  const auto older = write_checkpoint(run.attempt(1).checkpoints(), 9);
  const auto newer = write_checkpoint(run.attempt(1).checkpoints(), 10);
  auto bytes = dt::read_file(newer);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  dt::write_file_atomic(newer, bytes);
  std::vector<std::string> refused;
  CHECK(find_checkpoint(run.attempt(2), owner, refused)->path() == older);
  REQUIRE(refused.size() == 1);
  CHECK_THAT(refused[0], Contains(newer.string()));
}

TEST_CASE("a checkpoint of another run, build or number of ranks is passed over")
{
  const Run run;
  auto other = owner;
  other.run_key = "other";
  const auto path = write_checkpoint(run.attempt(1).checkpoints(), 9, other);
  std::vector<std::string> refused;
  CHECK(find_checkpoint(run.attempt(2), owner, refused) == std::nullopt);
  CHECK(refused == std::vector<std::string>{path.string() + " belongs to another run (other)."});
}

TEST_CASE("a disk that fills up refuses the checkpoint, keeps the older ones whole and takes later ones again")
{
  const dt::test::TemporaryFolder folder;
  const dt::test::TinyDisk disk(folder.path(), 512 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  write_checkpoint(folder.path(), 1);
  const std::vector<float> large(200'000);
  const std::vector<std::int64_t> large_dims{200'000};
  for (int i = 0; i < 3; ++i) {
    const auto write = [&] { write_tensors(folder.path(), progress_at(2), {{"weights/large", large_dims}}, large); };
    CHECK_THROWS_WITH(write(), "write " + (folder.path() / ".step-2.safetensors").string() + ": No space left on device");
    CHECK(file_names_in(folder.path()) == std::vector<std::string>{"step-1.safetensors"});
    CHECK_NOTHROW(CheckpointReader(write_checkpoint(folder.path(), 1)));
  }
}

TEST_CASE("killed at any moment while it writes, a writer leaves the last two checkpoints readable")
{
  using namespace std::chrono_literals;
  for (int moment = 0; moment < 12; ++moment) {
    const dt::test::TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::int64_t step = 1;; ++step) {
        write_checkpoint(folder.path(), step);
        prune_checkpoints(folder.path(), 2);
      }
    }
    while (list_checkpoints(folder.path()).size() < 2) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::microseconds(731 * moment));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto left = list_checkpoints(folder.path());
    REQUIRE(left.size() >= 2);
    for (const auto& path : left) CHECK_NOTHROW(CheckpointReader(path));
  }
}
