#include "core/hash.hpp"
#include "core/spec/run_key.hpp"
#include "engine/data/makers/make.hpp"
#include "engine/data/source.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace dt::data {
namespace {

namespace fs = std::filesystem;
using test::big_endian_at;
using test::byte_at;

MakeOptions options(const std::string& kind, const fs::path& folder, std::int64_t train = 100, std::int64_t test = 30)
{
  return {kind, folder, train, test, 1};
}

// Every file of a folder with its bytes, hidden ones too.
std::map<std::string, std::string> files_of(const fs::path& folder)
{
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files[entry.path().filename().string()] = test::read(entry.path());
  return files;
}

std::vector<std::string> names_of(const fs::path& folder)
{
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void check_idx(const fs::path& folder, const std::string& part, unsigned count)
{
  const auto images = test::read(folder / (part + "-images-idx3-ubyte")),
             labels = test::read(folder / (part + "-labels-idx1-ubyte"));
  REQUIRE(images.size() == 16 + count * 28 * 28);
  REQUIRE(labels.size() == 8 + count);
  CHECK(big_endian_at(images, 0) == 0x00000803);
  CHECK(big_endian_at(images, 4) == count);
  CHECK(big_endian_at(images, 8) == 28);
  CHECK(big_endian_at(images, 12) == 28);
  CHECK(big_endian_at(labels, 0) == 0x00000801);
  CHECK(big_endian_at(labels, 4) == count);
  std::array<unsigned, 10> seen{};
  for (unsigned i = 0; i < count; ++i) ++seen.at(byte_at(labels, 8 + i));
  for (const auto often : seen) CHECK(often == count / 10);
}

std::string usage_error(const MakeOptions& options)
{
  return test::refusal(ErrorKind::usage, [&] { make_data(options); });
}

} // namespace

TEST_CASE("made digits are genuine IDX files with every class equally often")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "digits";
  CHECK(make_data(options("digits", folder)));
  CHECK(names_of(folder) == std::vector<std::string>{".dtctl-data.json", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
                                                     "train-images-idx3-ubyte", "train-labels-idx1-ubyte"});
  check_idx(folder, "train", 100);
  check_idx(folder, "t10k", 30);
}

TEST_CASE("made shapes are genuine CIFAR-10 files, the training images in equal parts, with every class equally often")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "shapes";
  CHECK(make_data(options("shapes", folder, 110, 20)));
  std::array<int, 10> seen{};
  for (int batch = 1; batch <= 5; ++batch) {
    const auto bytes = test::read(folder / ("data_batch_" + std::to_string(batch) + ".bin"));
    REQUIRE(bytes.size() == 22 * 3073);
    for (std::size_t i = 0; i < 22; ++i) ++seen.at(byte_at(bytes, i * 3073));
  }
  for (const auto often : seen) CHECK(often == 11);
  CHECK(test::read(folder / "test_batch.bin").size() == 20 * 3073);
  CHECK(names_of(folder).size() == 7);
}

TEST_CASE("made sets are read by their sources, normalised to about mean 0 and deviation 1")
{
  const test::TemporaryFolder parent;
  for (const std::string kind : {"digits", "shapes"}) {
    CAPTURE(kind);
    make_data(options(kind, parent.path() / kind, 300, 30));
    DataSpec spec;
    spec.name = kind;
    const auto sources = open_sources(spec, parent.path() / kind, 1);
    REQUIRE(sources.train->size() == 300);
    REQUIRE(sources.test->size() == 30);
    std::vector<float> image(
        static_cast<std::size_t>(sources.train->channels() * sources.train->height() * sources.train->width()));
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
      sources.train->read(i, image.data());
      for (const double value : image) sum += value, squares += value * value;
    }
    const double values = 300.0 * static_cast<double>(image.size());
    CHECK(sum / values == Approx(0).margin(0.1));
    CHECK(squares / values == Approx(1).margin(0.1));
  }
}

TEST_CASE("equal options make equal bytes, and another seed makes other pictures")
{
  const test::TemporaryFolder parent;
  for (const std::string kind : {"digits", "shapes"}) {
    CAPTURE(kind);
    auto other_seed = options(kind, parent.path() / "c");
    other_seed.seed = 2;
    make_data(options(kind, parent.path() / "a"));
    make_data(options(kind, parent.path() / "b"));
    make_data(other_seed);
    const auto a = files_of(parent.path() / "a"), b = files_of(parent.path() / "b"), c = files_of(parent.path() / "c");
    CHECK(a == b);
    for (const auto& [name, bytes] : a) CHECK(bytes != c.at(name));
    for (const auto* name : {"a", "b", "c"}) fs::remove_all(parent.path() / name);
  }
}

TEST_CASE("the pictures are those of generator version 1 on every machine")
{
  // When these change on purpose, give the maker a new version in make.cpp.
  const test::TemporaryFolder parent;
  make_data(options("digits", parent.path() / "digits", 50, 10));
  make_data(options("shapes", parent.path() / "shapes", 50, 10));
  CHECK(hash_hex(test::read(parent.path() / "digits" / "train-images-idx3-ubyte")) == "8aa2f72ae03d78ae35530036c8cd3b2f");
  CHECK(hash_hex(test::read(parent.path() / "shapes" / "data_batch_5.bin")) == "50f83c17cedc61a5370d65aa9556258c");
}

TEST_CASE("training and test images differ, and a smaller set is the beginning of a larger one")
{
  const test::TemporaryFolder parent;
  make_data(options("digits", parent.path() / "small", 20, 20));
  make_data(options("digits", parent.path() / "large", 50, 50));
  const auto small = files_of(parent.path() / "small"), large = files_of(parent.path() / "large");
  const auto first = [](const std::string& bytes) { return bytes.substr(16, 20 * 784); };
  CHECK(first(small.at("train-images-idx3-ubyte")) == first(large.at("train-images-idx3-ubyte")));
  CHECK(first(small.at("t10k-images-idx3-ubyte")) == first(large.at("t10k-images-idx3-ubyte")));
  CHECK(first(small.at("train-images-idx3-ubyte")) != first(small.at("t10k-images-idx3-ubyte")));
}

TEST_CASE("every made picture is drawn: none is blank and no two are alike")
{
  const test::TemporaryFolder parent;
  make_data(options("digits", parent.path() / "digits", 500, 10));
  const auto bytes = test::read(parent.path() / "digits" / "train-images-idx3-ubyte");
  std::map<std::string, int> pictures;
  for (std::size_t i = 0; i < 500; ++i) {
    const auto picture = bytes.substr(16 + i * 784, 784);
    ++pictures[picture];
    const auto ink =
        std::count_if(picture.begin(), picture.end(), [](char pixel) { return static_cast<unsigned char>(pixel) > 100; });
    CHECK(ink > 8);
    CHECK(ink < 400);
  }
  CHECK(pictures.size() == 500);
}

TEST_CASE("a set that is there already is left alone, and its files keep their times")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "digits";
  CHECK(make_data(options("digits", folder)));
  const auto time = fs::last_write_time(folder / "train-images-idx3-ubyte");
  CHECK_FALSE(make_data(options("digits", folder)));
  CHECK(fs::last_write_time(folder / "train-images-idx3-ubyte") == time);
}

TEST_CASE("a made set with other options is kept, and the error names them")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "digits";
  make_data(options("digits", folder, 50, 10));
  const auto before = files_of(folder);
  CHECK_THAT(usage_error(options("digits", folder)), Catch::Contains("(--train 50 --test 10 --seed 1)"));
  CHECK(files_of(folder) == before);
}

TEST_CASE("a made set with a damaged or missing file is made anew in place")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "digits";
  make_data(options("digits", folder));
  const auto whole = files_of(folder);

  auto damaged = whole.at("t10k-labels-idx1-ubyte");
  damaged.back() ^= 1;
  test::write(folder / "t10k-labels-idx1-ubyte", damaged);
  CHECK(make_data(options("digits", folder)));
  CHECK(files_of(folder) == whole);

  fs::remove(folder / "train-labels-idx1-ubyte");
  CHECK(make_data(options("digits", folder)));
  CHECK(files_of(folder) == whole);
  CHECK(names_of(parent.path()) == std::vector<std::string>{"digits"});
}

TEST_CASE("a folder with anything else in it is refused and left as it is, the genuine MNIST and a made set too")
{
  struct Row {
    std::string made;
    std::vector<std::string> files;
    std::string named;
  };
  for (const auto& [made, files, named] : std::vector<Row>{{"", {"thesis.tex"}, "thesis.tex"},
                                                           {"", {"thesis.tex", "b", "c", "d"}, "b, c, d, …"},
                                                           {"", {"train-images-idx3-ubyte"}, "train-images-idx3-ubyte"},
                                                           {"digits", {"notes.txt"}, "notes.txt"}}) {
    const test::TemporaryFolder parent;
    const auto folder = parent.path() / "data";
    if (!made.empty()) make_data(options(made, folder));
    for (const auto& name : files) test::write(folder / name, name);
    const auto before = files_of(folder);
    CHECK(usage_error(options("digits", folder)) == folder.string() + " holds files that were not made by dtctl (" + named +
                                                        "); nothing was written. Choose another folder, or empty this one.");
    CHECK(files_of(folder) == before);
    CHECK(names_of(parent.path()) == std::vector<std::string>{"data"});
  }
}

TEST_CASE("a set of another kind is not written over")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "data";
  make_data(options("digits", folder));
  CHECK(usage_error(options("shapes", folder)) ==
        folder.string() + " holds the data set digits; shapes are not written over it. Choose another folder.");
}

TEST_CASE("a hidden manifest that is not ours does not make its folder ours")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "data";
  for (const auto* text : {"", "[1, 2", "{\"kind\": 3}", "{\"kind\":\"digits\",\"files\":[]}"}) {
    test::write(folder / ".dtctl-data.json", text);
    test::write(folder / "precious", "");
    CHECK_THAT(usage_error(options("digits", folder)), Catch::Contains("(precious)"));
  }
}

TEST_CASE("an empty folder, a relative one, one with a slash at its end and a link to one can be made in")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "real", link = parent.path() / "link";
  fs::create_directory(folder);
  fs::create_directory_symlink(folder, link);
  CHECK(make_data(options("digits", link / "")));
  CHECK(fs::is_symlink(link));
  CHECK(names_of(folder).size() == 5);
  CHECK_FALSE(make_data(options("digits", fs::relative(folder))));
  CHECK(make_data(options("digits", parent.path() / "not" / "yet" / "there" / "")));
  CHECK(names_of(parent.path()) == std::vector<std::string>{"link", "not", "real"});
}

TEST_CASE("a made set's identity is its pictures', not its manifest's")
{
  const test::TemporaryFolder parent;
  DataSpec spec;
  spec.name = "digits";
  make_data(options("digits", parent.path() / "digits"));
  const auto id = data_id(spec, parent.path() / "digits");
  fs::remove(parent.path() / "digits" / ".dtctl-data.json");
  CHECK(data_id(spec, parent.path() / "digits") == id);
}

TEST_CASE("a disk that fills up leaves the set that was there, and nothing half made")
{
  const test::TemporaryFolder parent;
  const test::TinyDisk disk(parent.path(), 400'000);
  if (!disk.is_mounted()) {
    WARN("not allowed to mount a small disk here; not tested");
    return;
  }
  const auto folder = parent.path() / "digits";
  const auto wanted = options("digits", folder, 400, 10); // two such sets do not fit on the disk
  make_data(wanted);
  std::ofstream(folder / "t10k-labels-idx1-ubyte") << "damaged"; // so that the set is made again
  const auto before = files_of(folder);
  CHECK_THROWS_WITH(make_data(wanted), Catch::EndsWith("train-images-idx3-ubyte: No space left on device"));
  CHECK(files_of(folder) == before);
  CHECK(names_of(parent.path()) == std::vector<std::string>{"digits"});
}

TEST_CASE("the images that are rendered are counted to the last, and the count changes no byte")
{
  const test::TemporaryFolder parent;
  for (const auto* kind : {"digits", "shapes"}) {
    auto counted = options(kind, parent.path() / kind / "counted", 1000, 300);
    std::vector<std::int64_t> counts;
    counted.progress = [&](std::int64_t done, std::int64_t all) {
      CHECK(all == 1300);
      counts.push_back(done);
    };
    make_data(counted);
    CHECK(std::is_sorted(counts.begin(), counts.end()));
    CHECK(counts.size() > 100);
    CHECK(counts.size() <= 201);
    REQUIRE(counts.back() == 1300);
    make_data(options(kind, parent.path() / kind / "silent", 1000, 300));
    CHECK(files_of(parent.path() / kind / "counted") == files_of(parent.path() / kind / "silent"));
  }
}

TEST_CASE("a maker that is stopped by its progress leaves nothing")
{
  const test::TemporaryFolder parent;
  auto stopped = options("shapes", parent.path() / "shapes", 1000, 300);
  stopped.progress = [](std::int64_t done, std::int64_t) {
    if (done > 900) throw Error(ErrorKind::environment, "nobody reads");
  };
  CHECK_THROWS_WITH(make_data(stopped), "nobody reads");
  CHECK(names_of(parent.path()).empty());
}

TEST_CASE("options that make no sense are refused, with what is allowed")
{
  const test::TemporaryFolder parent;
  const auto folder = parent.path() / "data";
  CHECK(usage_error(options("letters", folder)) == "There is no data set letters to make; there are digits and shapes.");
  const std::string limits = " were asked for; it must be 10 to 1000000.";
  CHECK(usage_error(options("digits", folder, 9)) == "9 training samples" + limits);
  CHECK(usage_error(options("digits", folder, 1000001)) == "1000001 training samples" + limits);
  CHECK(usage_error(options("shapes", folder, 10, -1)) == "-1 test samples" + limits);
  CHECK(usage_error(options("digits", "")) == "No folder was given to make the data set in.");
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a file where the folder should be is an environment error, and is kept")
{
  const test::TemporaryFolder parent;
  test::write(parent.path() / "digits", "a file");
  CHECK_THROWS_WITH(make_data(options("digits", parent.path() / "digits")),
                    "read folder " + (parent.path() / "digits").string() + ": Not a directory");
  CHECK(test::read(parent.path() / "digits") == "a file");
}

} // namespace dt::data
