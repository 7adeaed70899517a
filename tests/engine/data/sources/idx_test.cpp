#include "engine/data/source.hpp"
#include "engine/data/sources/file_bytes.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

namespace dt::data {
namespace {

namespace fs = std::filesystem;
using test::counting;
using test::gzip;
using test::idx;

// A folder with a small MNIST: 5 training and 3 test images of 2x3 pixels.
class SmallMnist {
 public:
  SmallMnist()
  {
    put("train-images-idx3-ubyte", idx(0x803, {5, 2, 3}, counting(30)));
    put("train-labels-idx1-ubyte", idx(0x801, {5}, std::string("\0\1\2\3\x9", 5)));
    put("t10k-images-idx3-ubyte", idx(0x803, {3, 2, 3}, counting(18, 100)));
    put("t10k-labels-idx1-ubyte", idx(0x801, {3}, std::string("\7\6\5", 3)));
  }
  void put(const std::string& name, const std::string& bytes) { test::write(folder_.path() / name, bytes); }
  std::string get(const std::string& name) const { return test::read(folder_.path() / name); }
  void remove(const std::string& name) { fs::remove(folder_.path() / name); }
  std::string folder() const { return folder_.path().string(); }
  Sources open(const std::string& name = "mnist", std::int64_t train = 0, std::int64_t test = 0) const
  {
    DataSpec spec;
    spec.name = name;
    spec.train_samples = train;
    spec.test_samples = test;
    return open_sources(spec, folder_.path(), 1);
  }
  // What opening it says of the file, and that its owner must act.
  std::string complaint(const std::string& file) const
  {
    return test::refusal_behind("data file " + folder() + "/" + file + ": ", ErrorKind::recipe, [&] { open(); });
  }

 private:
  test::TemporaryFolder folder_;
};

// All pixels and labels of a source, one after the other.
std::vector<float> contents(const Source& source)
{
  const auto size = static_cast<std::size_t>(source.channels() * source.height() * source.width());
  std::vector<float> all, image(size);
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const auto label = source.read(i, image.data());
    all.insert(all.end(), image.begin(), image.end());
    all.push_back(static_cast<float>(label));
  }
  return all;
}

} // namespace

TEST_CASE("MNIST's files give their shape, and every pixel normalised by MNIST's mean and deviation")
{
  const SmallMnist mnist;
  const auto sources = mnist.open();
  CHECK(sources.train->size() == 5);
  CHECK(sources.test->size() == 3);
  CHECK(sources.train->channels() == 1);
  CHECK(sources.train->height() == 2);
  CHECK(sources.train->width() == 3);
  CHECK(sources.train->classes() == 10);
  float image[6];
  CHECK(sources.train->read(4, image) == 9);
  for (int i = 0; i < 6; ++i) CHECK(image[i] == Approx((static_cast<float>(24 + i) / 255 - 0.1307f) / 0.3081f).margin(1e-6));
  CHECK(sources.test->read(0, image) == 7);
  CHECK(image[0] == Approx((100.0f / 255 - 0.1307f) / 0.3081f).margin(1e-6));
}

TEST_CASE("sets in MNIST's files have the classes of their labels, digits always ten")
{
  SmallMnist letters; // as EMNIST's, which count from 1
  std::string labels = test::counting(26, 1);
  letters.put("train-images-idx3-ubyte", idx(0x803, {26, 2, 3}, counting(26 * 6)));
  letters.put("train-labels-idx1-ubyte", idx(0x801, {26}, labels));
  const auto sources = letters.open();
  CHECK(sources.train->classes() == 27);
  CHECK(sources.test->classes() == 27);
  CHECK(letters.open("mnist", 3).train->classes() == 27); // whatever part of it a run uses
  CHECK_THROWS_WITH(letters.open("digits"), Catch::EndsWith("label 10 of sample 9, expected 0 to 9."));
  letters.put("train-labels-idx1-ubyte", idx(0x801, {26}, std::string(13, '\0') + std::string(13, '\1')));
  CHECK_THROWS_WITH(letters.open(), Catch::EndsWith("t10k-labels-idx1-ubyte: label 7 of sample 0, expected 0 to 1."));
}

TEST_CASE("gzip files, files of several gzip members and names with a dot give the same samples as plain files")
{
  SmallMnist mnist;
  const auto expected_train = contents(*mnist.open().train), expected_test = contents(*mnist.open().test);
  const auto repack = [&](const std::string& name, const std::string& new_name, const std::string& bytes) {
    mnist.remove(name);
    mnist.put(new_name, bytes);
  };
  const auto images = mnist.get("train-images-idx3-ubyte");
  repack("train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", gzip(images));
  repack("train-labels-idx1-ubyte", "train-labels.idx1-ubyte", mnist.get("train-labels-idx1-ubyte"));
  repack("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte.gz", gzip(mnist.get("t10k-images-idx3-ubyte")));
  CHECK(contents(*mnist.open().train) == expected_train);
  CHECK(contents(*mnist.open().test) == expected_test);
  mnist.put("train-images-idx3-ubyte.gz", gzip(images.substr(0, 20)) + gzip(images.substr(20)));
  CHECK(contents(*mnist.open().train) == expected_train);
}

TEST_CASE("a large gzip file is unpacked whole")
{
  SmallMnist mnist;
  std::string pixels(3 * 1000 * 1000, '\0');
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<char>(i * i >> 7);
  mnist.remove("t10k-images-idx3-ubyte");
  mnist.put("train-images-idx3-ubyte", idx(0x803, {5, 1000, 1000}, pixels + pixels.substr(0, 2'000'000)));
  mnist.put("t10k-images-idx3-ubyte.gz", gzip(idx(0x803, {3, 1000, 1000}, pixels)));
  const auto sources = mnist.open();
  std::vector<float> a(1'000'000), b(1'000'000);
  sources.train->read(2, a.data());
  sources.test->read(2, b.data());
  CHECK(a == b);
}

TEST_CASE("a plain file is taken before a gzip file beside it")
{
  SmallMnist mnist;
  mnist.put("train-labels-idx1-ubyte.gz", "not gzip at all");
  CHECK(mnist.open().train->size() == 5);
}

TEST_CASE("digits are read as MNIST is, with constants of their own")
{
  const SmallMnist mnist;
  float of_mnist[6], of_digits[6];
  CHECK(mnist.open("mnist").train->read(1, of_mnist) == mnist.open("digits").train->read(1, of_digits));
  CHECK(of_digits[0] == Approx((6.0f / 255 - 0.133f) / 0.238f).margin(1e-6));
  CHECK(of_digits[0] != of_mnist[0]);
}

TEST_CASE("a missing file is named with the folder and what to do")
{
  SmallMnist mnist;
  mnist.remove("t10k-labels-idx1-ubyte");
  const std::string missing =
      ": no file t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz or t10k-labels.idx1-ubyte or t10k-labels.idx1-ubyte.gz in ";
  const std::string there = ", which holds t10k-images-idx3-ubyte, train-images-idx3-ubyte, train-labels-idx1-ubyte";
  CHECK_THROWS_WITH(
      mnist.open("mnist"),
      "data set mnist" + missing + mnist.folder() + there +
          ". Put its files there, or name their folder in data.path. Images of your own are packed first: dtctl data pack "
          "FOLDER -o NAME; then data.name is packed.");
  CHECK_THROWS_WITH(mnist.open("digits"),
                    "data set digits" + missing + mnist.folder() + there + ". Make it with: dtctl data make digits");
}

TEST_CASE("a folder where a file should be is not taken for it")
{
  SmallMnist mnist;
  mnist.remove("t10k-labels-idx1-ubyte");
  fs::create_directory(mnist.folder() + "/t10k-labels-idx1-ubyte");
  CHECK_THROWS_WITH(mnist.open(), Catch::StartsWith("data set mnist: no file t10k-labels-idx1-ubyte or "));
}

TEST_CASE("every way in which an IDX file can be wrong is said with file, found and expected")
{
  struct Wrong {
    std::string file, bytes, complaint;
  };
  const std::string images = "train-images-idx3-ubyte", labels = "train-labels-idx1-ubyte";
  const auto wrong = std::vector<Wrong>{
      {images, "", "0 bytes, too short for an IDX header of 16 bytes. Fetch it again."},
      {images, idx(0x803, {5, 2}, ""), "12 bytes, too short for an IDX header of 16 bytes. Fetch it again."},
      {labels, test::big_endian(0x801), "4 bytes, too short for an IDX header of 8 bytes. Fetch it again."},
      {images, "<!DOCTYPE html><html>", "magic number 0x3c21444f, expected 0x00000803: not an IDX file."},
      {images, idx(0x03080000, {5, 2, 3}, counting(30)), "magic number 0x03080000, expected 0x00000803: not an IDX file."},
      {labels, idx(0x10801, {5}, counting(5)), "magic number 0x00010801, expected 0x00000801: not an IDX file."},
      {images, idx(0xd03, {5, 2, 3}, counting(120)), "values of IDX type 0x0d, expected 0x08 (unsigned bytes)."},
      {images, idx(0x801, {30}, counting(30)), "1 dimensions, expected 3. Are images and labels exchanged?"},
      {labels, idx(0x803, {5, 1, 1}, counting(5)), "3 dimensions, expected 1. Are images and labels exchanged?"},
      {images, idx(0x803, {0, 2, 3}, ""), "dimension 1 is 0: it holds nothing."},
      {images, idx(0x803, {5, 2, 0}, ""), "dimension 3 is 0: it holds nothing."},
      {images, idx(0x803, {5, 4097, 3}, ""), "dimension 2 is 4097, expected at most 4096."},
      {images, idx(0x803, {0xffffffff, 4096, 4096}, ""),
       "truncated: 16 bytes, its header promises 72057594021150736. Fetch it again."},
      {images, idx(0x803, {5, 2, 3}, counting(29)), "truncated: 45 bytes, its header promises 46. Fetch it again."},
      {images, idx(0x803, {5, 2, 3}, counting(33)), "3 bytes too many: 49 bytes, its header promises 46. Fetch it again."},
      {labels, idx(0x801, {5}, counting(4)), "truncated: 12 bytes, its header promises 13. Fetch it again."},
      {labels, idx(0x801, {4}, counting(4)),
       "4 labels for the 5 images of train-images-idx3-ubyte. Take both from the same set."},
      {labels, idx(0x801, {5}, std::string("\xff\2\3\4\1", 5)),
       "label 255 of sample 0, but only 5 different labels, expected labels from 0 to the number of classes - 1. Are these the "
       "labels?"},
      {labels, idx(0x801, {5}, std::string("\3\3\3\3\3", 5)), "every label is 3, expected labels of at least 2 classes."},
      {"t10k-labels-idx1-ubyte", idx(0x801, {3}, std::string("\7\xa\5", 3)), "label 10 of sample 1, expected 0 to 9."},
  };
  for (const auto& [file, bytes, complaint] : wrong) {
    SmallMnist mnist;
    mnist.put(file, bytes);
    CHECK(mnist.complaint(file) == complaint);
  }
}

TEST_CASE("an IDX file cut anywhere is refused, and one with a changed header is refused or as large as it says")
{
  const auto is_refused = [](const SmallMnist& mnist) {
    return !test::refusal(ErrorKind::recipe, [&] { mnist.open(); }).empty();
  };
  for (const std::string file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) {
    SmallMnist mnist;
    const auto whole = mnist.get(file);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      mnist.put(file, whole.substr(0, length));
      CHECK(is_refused(mnist));
    }
    for (std::size_t bit = 0; bit < 8 * 16; ++bit) {
      auto changed = whole;
      changed.at(bit / 8 % whole.size()) ^= static_cast<char>(1 << bit % 8);
      mnist.put(file, changed);
      if (!is_refused(mnist)) CHECK(mnist.open().train->size() == 5);
    }
  }
}

TEST_CASE("every way in which a gzip file can be wrong is said with the file")
{
  const std::string name = "train-images-idx3-ubyte", packed = gzip(SmallMnist().get(name));
  const auto cut = [&](std::size_t bytes) {
    return std::pair{packed.substr(0, bytes),
                     "its gzip data is cut short after " + std::to_string(bytes) + " bytes. Fetch it again."};
  };
  const auto changed = [&](std::size_t from_end) {
    auto bytes = packed;
    bytes[bytes.size() - from_end] ^= 1;
    return std::pair{bytes, std::string("its gzip data is corrupt after 46 unpacked bytes. Fetch it again.")};
  };
  const std::string not_gzip =
      "its name ends in .gz but it is not gzip. If something unpacked it already, take the .gz off its name.";
  constexpr std::size_t checksum = 6, length = 1; // bytes from the end
  const auto wrong = std::vector<std::pair<std::string, std::string>>{
      {"", not_gzip},
      {SmallMnist().get(name), not_gzip},
      cut(5),
      cut(packed.size() - 9),
      cut(packed.size() - 1),
      changed(checksum),
      changed(length),
      {packed + "tail", "4 bytes after the end of its gzip data. Fetch it again."},
  };
  for (const auto& [bytes, complaint] : wrong) {
    SmallMnist mnist;
    mnist.remove(name);
    mnist.put(name + ".gz", bytes);
    CHECK(mnist.complaint(name + ".gz") == complaint);
  }
}

TEST_CASE("a small gzip file that unpacks to more than is allowed is refused before it fills the memory")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "bomb.gz";
  test::write(path, gzip(std::string(10'000'000, '\0')));
  CHECK_THROWS_WITH(read_unpacked(path, 1'000'000),
                    "data file " + path.string() + ": unpacks to more than 1000000 bytes, which no file of this kind does.");
}

TEST_CASE("training and test images of different sizes are refused")
{
  SmallMnist mnist;
  mnist.put("t10k-images-idx3-ubyte", idx(0x803, {3, 3, 2}, counting(18)));
  CHECK_THROWS_WITH(mnist.open(), "data set mnist in " + mnist.folder() +
                                      ": training images are 2x3, test images 3x2. Take both from the same set.");
}

TEST_CASE("a run may use the first samples only, but not more than there are")
{
  const SmallMnist mnist;
  const auto all = mnist.open(), some = mnist.open("mnist", 2, 1);
  CHECK(some.train->size() == 2);
  CHECK(some.test->size() == 1);
  auto expected = contents(*all.train);
  expected.resize(2 * 7);
  CHECK(contents(*some.train) == expected);
  CHECK(mnist.open("mnist", 5, 3).train->size() == 5);
  const auto refused = [&](std::int64_t train, std::int64_t test) {
    return test::refusal(ErrorKind::recipe, [&] { mnist.open("mnist", train, test); });
  };
  CHECK(refused(6, 0) == "data.train_samples asks for 6 samples, but data set mnist in " + mnist.folder() +
                             " has 5 for training. Ask for at most 5, or 0 for all.");
  CHECK(refused(0, 4) == "data.test_samples asks for 4 samples, but data set mnist in " + mnist.folder() +
                             " has 3 for evaluation. Ask for at most 3, or 0 for all.");
}

} // namespace dt::data
