// From one run's final checkpoint to another run and to NumPy, as a user does it.
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/spec/run_key.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

std::string recipe(const std::string& name, const std::string& train)
{
  return "version: 1\nname: " + name +
         "\nmodel: {name: lenet}\n"
         "data: {name: synthetic, train_samples: 256, test_samples: 64}\n"
         "train: {global_batch: 32, steps: 6, warmup_steps: 2, " +
         train + "}\n";
}

std::string key_of_last(const Dtctl& dtctl) { return dtctl.json({"status"}).at("runs")[0].at("key"); }

// A file that begins like a checkpoint, with a hash that fits and a header that ends behind it.
std::string crafted()
{
  auto bytes =
      '\x60' + std::string(7, '\0') + std::string(dt::checkpoint_magic) + std::string(dt::checkpoint_hash_digits, '0') + "\"";
  bytes.resize(8 + 0x60, ' ');
  return bytes.replace(dt::checkpoint_hash_begin, dt::checkpoint_hash_digits, dt::hash_hex(bytes));
}

// A run that has ended with a checkpoint.
struct First {
  First()
  {
    dtctl.write("first.yaml", recipe("first", "final_checkpoint: true"));
    const auto end = dtctl.run({"submit", "first.yaml", "--wait"});
    INFO(end.out << end.err);
    REQUIRE(end.ok());
    key = key_of_last(dtctl);
    checkpoint = dtctl.home() / "runs" / key / "attempts" / "1" / "checkpoints" / "step-6.safetensors";
  }
  // The key of a run of these keys, done to its end.
  std::string run(const std::string& name, const std::string& train) const
  {
    dtctl.write(name + ".yaml", recipe(name, train));
    const auto end = dtctl.run({"submit", name + ".yaml", "--wait"});
    INFO(end.out << end.err);
    REQUIRE(end.ok());
    return key_of_last(dtctl);
  }
  Dtctl dtctl;
  std::string key;
  fs::path checkpoint;
};

} // namespace

TEST_CASE("a run is shown with its checkpoint, and another starts from its key, its folder or the file, which is the same run")
{
  const First first;
  const auto shown = first.dtctl.json({"show", first.key}).at("checkpoints");
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].at("step") == 6);
  CHECK(shown[0].at("path") == first.checkpoint.string());
  const auto by_last = first.run("zeroth", "start_from: last");
  const auto by_key = first.run("second", "start_from: " + first.key.substr(0, 12));
  CHECK(by_last == by_key);
  CHECK(by_key != first.key);
  CHECK(first.run("third", "start_from: home/runs/" + first.key) == by_key);
  fs::copy_file(first.checkpoint, first.dtctl.folder() / "moved.safetensors");
  CHECK(first.run("fourth", "start_from: moved.safetensors") == by_key);
  first.dtctl.write("fifth.yaml", recipe("fifth", "start_from: last"));
  const auto refused = first.dtctl.run({"sweep", "--dry-run", "fifth.yaml"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("no checkpoint"));
  first.dtctl.write("fifth.yaml", recipe("fifth", "start_from: fourth"));
  CHECK_THAT(first.dtctl.run({"submit", "fifth.yaml"}).err, Contains("fourth is a study"));
  CHECK_THAT(dt::read_file(first.dtctl.home() / "runs" / by_key / "attempts" / "1" / "stdout"),
             Contains("starts from step 6 of run " + first.key.substr(0, 10)));
}

TEST_CASE("a start that is not there, or is no checkpoint, is refused before anything is submitted")
{
  const Dtctl dtctl;
  dtctl.write("notes.txt", "notes");
  for (const auto& [start, why] :
       {std::pair{"nowhere/step-9.safetensors", ": there is no such file"}, {"notes.txt", " is not a file of weights"}}) {
    dtctl.write("wrong.yaml", recipe("wrong", std::string("start_from: ") + start));
    const auto wrong = dtctl.run({"submit", "wrong.yaml"});
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, Contains((dtctl.folder() / start).string() + why));
  }
  CHECK_FALSE(fs::exists(dtctl.home() / "runs"));
}

TEST_CASE("weights that do not fit the model, are torn, altered or none at all are refused with their place, in a recipe before "
          "anything "
          "is submitted, in an export with exit code 2")
{
  const First first;
  const auto& dtctl = first.dtctl;
  REQUIRE(dtctl.run({"export", "--format", "weights", first.key, "-o", "w.npz"}).ok());
  const auto refused = [&](const std::string& name, const std::string& file, const std::string& why) {
    auto text = recipe(name, "start_from: " + file);
    text.replace(text.find("train_samples"), 0, "classes: 7, ");
    dtctl.write(name + ".yaml", text);
    for (const auto* verb : {"validate", "sweep"}) {
      const auto end = dtctl.run({verb, name + ".yaml"});
      CHECK(end.exit_code == 2);
      CHECK_THAT(end.err, Catch::StartsWith(name + ".yaml:5:66: "));
      CHECK_THAT(end.err, Contains(why));
    }
  };
  const std::string other_shape = " does not fit the model: tensor fc3.weight is 10x84 in the file";
  refused("archive", "w.npz", (dtctl.folder() / "w.npz").string() + other_shape);
  refused("of-run", first.key, first.checkpoint.string() + other_shape);
  dtctl.write("notes.npz", "these are no weights");
  refused("notes", "notes.npz", "notes.npz: the zip archive cannot be read");
  dtctl.write("notes.safetensors", "these are no weights");
  refused("plain", "notes.safetensors", "notes.safetensors: this is not a safetensors file");
  refused("nowhere", "nowhere.npz", "there is no such file");
  CHECK(dtctl.json({"status", "--all"}).at("studies").size() == 1);

  const auto whole = dt::read_file(first.checkpoint);
  dtctl.write("torn.safetensors", whole.substr(0, whole.size() / 2));
  dtctl.write("crafted.safetensors", crafted());
  dtctl.write("tiny.yaml", dt::test::tiny_recipe());
  REQUIRE(dtctl.run({"submit", "tiny.yaml", "--wait"}).ok());
  for (const auto& [source, why] : {std::pair{"torn.safetensors", "torn or was altered"},
                                    {"notes.safetensors", "the file is no checkpoint"},
                                    {"crafted.safetensors", "its header is not JSON"},
                                    {"last", "train.final_checkpoint: true"}}) { // the run of tiny.yaml has none
    const auto end = dtctl.run({"export", "--format", "weights", source, "-o", "new.npz"});
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.err, Contains(source == std::string("last") ? "tiny" : source) && Contains(why));
    CHECK_FALSE(fs::exists(dtctl.folder() / "new.npz"));
  }
}

TEST_CASE("weights are listed and exported by run and by file, and what is there is not replaced unasked")
{
  const First first;
  const auto& dtctl = first.dtctl;
  const auto listed = dtctl.json({"export", "--format", "weights", first.key, "--list"}).at("tensors");
  REQUIRE(listed.size() == 10);
  CHECK(listed[0] == Json{{"name", "conv1.weight"}, {"shape", "6x1x5x5"}});
  CHECK(dtctl.json({"export", "--format", "weights", "last", "-o", "w.npz"}).at("checkpoint") == first.checkpoint.string());
  const auto bytes = dt::read_file(dtctl.folder() / "w.npz");
  const auto again = dtctl.run({"export", "--format", "weights", first.checkpoint.string(), "-o", "w.npz"});
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.err, Contains("--force"));
  CHECK(dtctl.run({"export", "--format", "weights", first.checkpoint.string(), "-o", "w.npz", "--force"}).ok());
  CHECK(dt::read_file(dtctl.folder() / "w.npz") == bytes);
  CHECK(dtctl.run({"export", "--format", "weights", "last"}).exit_code == 2);
  CHECK(dtctl.run({"export", "--format", "weights", "none.safetensors", "--list"}).exit_code == 2);
  const auto from_archive = first.run("fifth", "start_from: w.npz");
  CHECK(from_archive != first.key);
  CHECK(dtctl.run({"export", "--format", "weights", first.key, "-o", "w.pt"}).exit_code == 2);
  REQUIRE(dtctl.run({"export", "--format", "weights", first.key, "-o", "w.safetensors"}).ok());
  CHECK(first.run("sixth", "start_from: w.safetensors") != from_archive);
}
