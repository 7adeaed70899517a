#include "engine/data/source.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

Sources open(const std::string& name, const fs::path& folder)
{
  DataSpec spec;
  spec.name = name;
  return open_sources(spec, folder, 1);
}

// A record: its label bytes, then 3072 pixels counting up from `first`.
std::string record(const std::string& labels, unsigned first) { return labels + test::counting(3072, first); }

std::string label(int value) { return {static_cast<char>(value)}; }

// Two records a training file, one in the test file; labels 0 to 9 in turn.
void write_cifar10(const fs::path& folder)
{
  for (int i = 0; i < 5; ++i) {
    const auto number = static_cast<unsigned>(i);
    test::write(folder / ("data_batch_" + std::to_string(i + 1) + ".bin"),
                record(label(2 * i), 20 * number) + record(label(2 * i + 1), 20 * number + 10));
  }
  test::write(folder / "test_batch.bin", record(label(3), 7));
}

void write_cifar100(const fs::path& folder)
{
  test::write(folder / "train.bin", record({19, 99}, 0) + record({0, 42}, 1));
  test::write(folder / "test.bin", record({4, 7}, 2));
}

std::string complaint(const std::string& name, const fs::path& folder, const std::string& file, const std::string& bytes)
{
  test::write(folder / file, bytes);
  return test::refusal_behind("data file " + (folder / file).string() + ": ", ErrorKind::recipe, [&] { open(name, folder); });
}

} // namespace

TEST_CASE("CIFAR-10's five training files follow one another, and its planes are normalised each by its own constants")
{
  const test::TemporaryFolder folder;
  write_cifar10(folder.path());
  const auto sources = open("cifar10", folder.path());
  CHECK(sources.train->size() == 10);
  CHECK(sources.test->size() == 1);
  CHECK(sources.train->channels() == 3);
  CHECK(sources.train->height() == 32);
  CHECK(sources.train->width() == 32);
  CHECK(sources.train->classes() == 10);
  const float mean[] = {0.4914f, 0.4822f, 0.4465f}, deviation[] = {0.2470f, 0.2435f, 0.2616f};
  std::vector<float> image(3072);
  for (int i = 0; i < 10; ++i) {
    CHECK(sources.train->read(i, image.data()) == i);
    for (std::size_t pixel : {0, 1, 1023, 1024, 2047, 2048, 3071}) {
      const auto byte = (pixel + static_cast<std::size_t>(10 * i)) % 256;
      CHECK(image[pixel] == Approx((static_cast<float>(byte) / 255 - mean[pixel / 1024]) / deviation[pixel / 1024]).margin(1e-5));
    }
  }
  CHECK(sources.test->read(0, image.data()) == 3);
}

TEST_CASE("CIFAR-10 and CIFAR-100 are found in the folder that their archives unpack to")
{
  const test::TemporaryFolder folder;
  write_cifar10(folder.path() / "cifar-10-batches-bin");
  write_cifar100(folder.path() / "cifar-100-binary");
  CHECK(open("cifar10", folder.path()).train->size() == 10);
  CHECK(open("shapes", folder.path()).train->size() == 10);
  CHECK(open("cifar100", folder.path()).train->size() == 2);
}

TEST_CASE("CIFAR-100 gives the fine labels")
{
  const test::TemporaryFolder folder;
  write_cifar100(folder.path());
  const auto sources = open("cifar100", folder.path());
  std::vector<float> image(3072);
  CHECK(sources.train->classes() == 100);
  CHECK(sources.train->read(0, image.data()) == 99);
  CHECK(sources.train->read(1, image.data()) == 42);
  CHECK(image[0] == Approx((1.0f / 255 - 0.5071f) / 0.2673f).margin(1e-5));
  CHECK(sources.test->read(0, image.data()) == 7);
}

TEST_CASE("every way in which a CIFAR file can be wrong is said with file, found and expected")
{
  struct Row {
    std::string name, file, bytes, why;
  };
  const std::string not_records = " left over): truncated, or of another kind.";
  const auto whole = record(label(1), 0);
  for (const auto& [name, file, bytes, why] : std::vector<Row>{
           {"cifar10", "test_batch.bin", "", "0 bytes, not a whole number of records of 3073 bytes (0" + not_records},
           {"cifar10", "test_batch.bin", whole.substr(1),
            "3072 bytes, not a whole number of records of 3073 bytes (3072" + not_records},
           {"cifar10", "test_batch.bin", whole + "x", "3074 bytes, not a whole number of records of 3073 bytes (1" + not_records},
           {"cifar100", "train.bin", whole, "3073 bytes, not a whole number of records of 3074 bytes (3073" + not_records},
           {"cifar10", "data_batch_3.bin", record(label(9), 0) + record(label(10), 0), "label 10 of record 1, expected 0 to 9."},
           {"cifar100", "test.bin", record({20, 0}, 0), "coarse label 20 of record 0, expected 0 to 19."},
           {"cifar100", "test.bin", record({0, 100}, 0), "fine label 100 of record 0, expected 0 to 99."}}) {
    const test::TemporaryFolder folder;
    write_cifar10(folder.path());
    write_cifar100(folder.path());
    CHECK(complaint(name, folder.path(), file, bytes) == why);
  }
}

TEST_CASE("a missing CIFAR file is named with the folder and what to do")
{
  const test::TemporaryFolder folder;
  write_cifar10(folder.path());
  fs::remove(folder.path() / "data_batch_4.bin");
  const std::string missing = ": no file data_batch_4.bin or cifar-10-batches-bin/data_batch_4.bin in " + folder.path().string() +
                              ", which holds data_batch_1.bin, data_batch_2.bin, data_batch_3.bin and 2 more";
  CHECK_THROWS_WITH(
      open("cifar10", folder.path()),
      "data set cifar10" + missing +
          ". Put its files there, or name their folder in data.path. Images of your own are packed first: dtctl data pack "
          "FOLDER -o NAME; then data.name is packed.");
  CHECK_THROWS_WITH(open("shapes", folder.path()), "data set shapes" + missing + ". Make it with: dtctl data make shapes");
}

} // namespace dt::data
