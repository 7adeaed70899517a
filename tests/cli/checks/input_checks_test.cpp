// Data sets, models on their images and starts: what a run would fail of is refused before anything is submitted.
#include "tests/cli/driver.hpp"
#include "tests/engine/data/bytes.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;
using dt::test::counting;
using dt::test::Dtctl;
using dt::test::gzip;
using dt::test::idx;

namespace {

// A folder `images` beside the recipe with a set in MNIST's four files, labels 0, 1, … in turn.
class DataFolder {
 public:
  explicit DataFolder(std::uint32_t side = 28, unsigned classes = 10, unsigned first = 0)
  {
    put_part("train", 60, side, classes, first);
    put_part("t10k", 20, side, classes, first);
    dtctl.write("r.yaml", recipe("{ name: mnist, path: images }"));
  }

  static std::string recipe(const std::string& data, const std::string& train = "global_batch: 10, steps: 2, warmup_steps: 0")
  {
    return "version: 1\nname: r\nmodel: { name: lenet }\ndata: " + data + "\ntrain: { " + train + " }\n";
  }

  fs::path file(const std::string& name) const { return dtctl.folder() / "images" / name; }
  void put(const std::string& name, const std::string& bytes) const { dt::test::write(file(name), bytes); }
  // What `dtctl validate r.yaml` refuses the recipe for; empty when it does not.
  std::string refusal() const
  {
    const auto result = dtctl.run({"validate", "r.yaml"});
    INFO(result.out << result.err);
    REQUIRE((result.exit_code == 0 || result.exit_code == 2));
    return result.exit_code == 0 ? "" : result.err;
  }

  Dtctl dtctl;

 private:
  void put_part(const std::string& part, std::uint32_t count, std::uint32_t side, unsigned classes, unsigned first) const
  {
    std::string labels(count, '\0');
    for (std::uint32_t i = 0; i < count; ++i) labels[i] = static_cast<char>(first + i % classes);
    put(part + "-images-idx3-ubyte", idx(0x803, {count, side, side}, counting(std::size_t{count} * side * side)));
    put(part + "-labels-idx1-ubyte", idx(0x801, {count}, labels));
  }
};

constexpr const char* data_place = "r.yaml:4:28: ";

} // namespace

TEST_CASE("a data set that is whole and fits is valid, and what it holds is told")
{
  const DataFolder data;
  const auto json = data.dtctl.json({"validate", "r.yaml"}).at("data");
  REQUIRE(json.size() == 1);
  CHECK(json[0].at("classes") == 10);
  CHECK(json[0].at("train_samples") == 60);
}

TEST_CASE("a data set that is not there is told by validate, and refused by whoever needs its content, where the recipe names it")
{
  const Dtctl dtctl;
  dtctl.write("r.yaml", DataFolder::recipe("{ name: mnist, path: nowhere }"));
  const auto valid = dtctl.run({"validate", "r.yaml"});
  CHECK(valid.exit_code == 0);
  const auto folder = (dtctl.folder() / "nowhere").string();
  CHECK_THAT(valid.err, Contains("data set mnist was not checked: no files in " + folder));
  const auto digits = dtctl.run({"validate", "r.yaml", "--set", "data.name=digits"});
  CHECK_THAT(digits.err, Contains("make it with: dtctl data make digits --out " + folder));
  const auto submitted = dtctl.run({"submit", "r.yaml"});
  CHECK(submitted.exit_code == 74);
  CHECK_THAT(submitted.err, Contains("r.yaml:4:28: data set mnist: no files in "));
}

TEST_CASE("files that are no data set are refused by every verb, with what is there and what was expected")
{
  const Dtctl dtctl;
  dtctl.write("r.yaml", DataFolder::recipe("{ name: mnist, path: images }"));
  for (const auto* name : {"a.png", "b.png", "c.png", "d.png"}) dt::test::write(dtctl.folder() / "images" / name, "png");
  for (const auto* verb : {"validate", "sweep"}) {
    const auto result = dtctl.run({verb, "r.yaml"});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, StartsWith(data_place + std::string("data set mnist: no file train-images-idx3-ubyte or ")) &&
                               Contains("which holds a.png, b.png, c.png and 1 more"));
  }
  CHECK_FALSE(fs::exists(dtctl.home() / "runs"));
}

TEST_CASE(
    "a truncated file, plain or gzip, and labels that are too few or out of range are refused where the recipe names the set")
{
  DataFolder data;
  const auto check = [&](const std::string& name, const std::string& bytes, const std::string& why) {
    INFO(name);
    const auto before = fs::exists(data.file(name)) ? dt::test::read(data.file(name)) : "";
    data.put(name, bytes);
    CHECK_THAT(data.refusal(), StartsWith(data_place + ("data file " + data.file(name).string() + ": ")) && Contains(why));
    data.put(name, before);
  };
  const auto images = dt::test::read(data.file("train-images-idx3-ubyte"));
  check("train-images-idx3-ubyte", images.substr(0, images.size() - 1), "truncated: 47055 bytes, its header promises 47056");
  check("train-labels-idx1-ubyte", idx(0x801, {59}, std::string(59, '\1')), "59 labels for the 60 images");
  check("t10k-labels-idx1-ubyte", idx(0x801, {20}, counting(20)), "label 10 of sample 10, expected 0 to 9");
  fs::remove(data.file("train-images-idx3-ubyte"));
  data.put("train-images-idx3-ubyte.gz", gzip(images));
  CHECK(data.refusal() == "");
  check("train-images-idx3-ubyte.gz", gzip(images.substr(0, 1000)), "truncated: 1000 bytes");
}

TEST_CASE("images that the model cannot take are refused with both, where the recipe names the model")
{
  const DataFolder small(8);
  CHECK_THAT(small.refusal(), StartsWith("r.yaml:3:16: Images of 1x8x8 are too small for model lenet: ") &&
                                  Contains((small.dtctl.folder() / "images").string() + " has images of 1x8x8 and 10 classes."));
}

TEST_CASE("more samples than there are, and steps larger than the data set, are refused where they are written")
{
  const DataFolder data;
  data.dtctl.write("r.yaml", DataFolder::recipe("{ name: mnist, path: images, train_samples: 61, test_samples: 21 }"));
  CHECK_THAT(data.refusal(), StartsWith("r.yaml:4:51: `data.train_samples` asks for 61 samples, but ") &&
                                 Contains("\nr.yaml:4:69: `data.test_samples` asks for 21 samples, but "));
  data.dtctl.write("r.yaml", DataFolder::recipe("{ name: mnist, path: images }", "global_batch: 64, epochs: 1"));
  CHECK(data.refusal() == "r.yaml:5:24: one step of 64 samples needs more than the 60 there are to train on\n");
}

TEST_CASE("a set with other classes than MNIST trains with the classes of its labels")
{
  const DataFolder letters(28, 26, 1); // as EMNIST's letters, whose labels are 1 to 26
  CHECK(letters.dtctl.json({"validate", "r.yaml"}).at("data")[0].at("classes") == 27);
  const auto end = letters.dtctl.run({"submit", "r.yaml", "--wait"});
  INFO(end.out << end.err);
  REQUIRE(end.exit_code == 0);
  const auto rows = letters.dtctl.json({"query", "select parameters from results"}).at("rows");
  CHECK(rows[0].at("parameters") == 61'706 + 17 * 85); // 84 weights and a bias of each further class
}

TEST_CASE("places are those of the point of the sweep that is wrong")
{
  const DataFolder data;
  fs::create_directories(data.dtctl.folder() / "others");
  dt::test::write(data.dtctl.folder() / "others" / "a.png", "png");
  data.dtctl.write("r.yaml", DataFolder::recipe("{ name: mnist }") + "sweep: { matrix: { data.path: [images, others] } }\n");
  CHECK_THAT(data.refusal(), StartsWith("r.yaml:6:40: data set mnist: no file "));
  data.dtctl.write("r.yaml",
                   DataFolder::recipe("{ name: mnist, path: images }") + "sweep: { matrix: { model.name: [lenet, vgg11] } }\n");
  CHECK_THAT(data.refusal(), StartsWith("r.yaml:6:40: Images of 1x28x28 are too small for model vgg11: "));
}

TEST_CASE("validate, plan, dry run and submission refuse the same words for Slurm, in the recipe and behind --")
{
  const Dtctl dtctl;
  const auto recipe = [](const std::string& resources) {
    return DataFolder::recipe("{ name: synthetic }") + "resources: { scheduler: slurm, time_limit: 5m" + resources + " }\n";
  };
  dtctl.write("r.yaml", recipe(", scheduler_args: [--mem=2.5G]"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"validate", "r.yaml"},
                                                {"sweep", "--dry-run", "r.yaml"},
                                                {"submit", "r.yaml", "--dry-run"},
                                                {"submit", "r.yaml"}}) {
    const auto result = dtctl.run(words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, StartsWith("r.yaml:6:") && Contains("--mem cannot be `2.5G`"));
  }
  dtctl.write("plain.yaml", recipe(""));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"sweep", "--dry-run", "plain.yaml", "--", "--mem=2.5G"},
                                                {"submit", "plain.yaml", "--dry-run", "--", "--mem=2.5G"},
                                                {"sweep", "plain.yaml", "--", "--mem=2.5G"}}) {
    const auto result = dtctl.run(words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("--mem cannot be `2.5G`"));
  }
  CHECK(dtctl.run({"sweep", "--dry-run", "plain.yaml", "--", "--mem=2GB", "--exclusive=user", "--distribution=block:cyclic"})
            .exit_code == 0);
}
