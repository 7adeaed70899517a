#include "engine/data/images/jpeg.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/data/reading/read_range.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/engine/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::data {
namespace {

DataSpec packed_spec()
{
  DataSpec spec;
  spec.name = "packed";
  return spec;
}

std::string error_of(const std::filesystem::path& path, const DataSpec& spec)
{
  return test::refusal(ErrorKind::recipe, [&] { open_sources(spec, path, 1); });
}

// The labels and first pixels of a rank's batches.
std::vector<std::pair<std::int32_t, float>> read_batches(const Source& source, const BatchLoader::Options& options, int steps)
{
  BatchLoader loader(source, options);
  std::vector<std::pair<std::int32_t, float>> samples;
  for (int step = 0; step < steps; ++step) {
    const auto& batch = loader.next();
    const auto image = batch.images.size() / batch.labels.size();
    for (std::size_t i = 0; i < batch.labels.size(); ++i) samples.emplace_back(batch.labels[i], batch.images[i * image]);
  }
  return samples;
}

// A set of JPEG files of different sizes in three classes.
std::string write_jpegs(const std::filesystem::path& path, std::int64_t train, std::int64_t test)
{
  std::vector<std::string> records;
  for (std::int64_t i = 0; i < train + test; ++i) records.push_back(jpeg_bytes(gradient(40 + i, 60 - i, 3)));
  PackedDescription set{.encoding = PackedEncoding::jpeg, .channels = 3, .min_side = 40, .max_side = 60};
  set.train_samples = train;
  set.test_samples = test;
  set.classes = {"a", "b", "c"};
  set.mean = {0.4, 0.4, 0.4};
  set.deviation = {0.2, 0.2, 0.2};
  return test::write_packed(path, records, set);
}

TEST_CASE("a packed set of pixels has its images, labels and splits")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 25, 7);
  const auto sources = open_sources(packed_spec(), path, 1);
  CHECK(sources.train->size() == 25);
  CHECK(sources.test->size() == 7);
  CHECK(sources.train->channels() == 1);
  CHECK(sources.train->height() == 2);
  CHECK(sources.train->width() == 3);
  CHECK(sources.train->classes() == 10);
  std::vector<float> image(6);
  CHECK(sources.train->read(12, image.data()) == 2);
  CHECK(image[5] == Approx(12));
  CHECK(sources.test->read(3, image.data()) == 8);
  CHECK(image[0] == Approx(28));
  auto spec = packed_spec();
  spec.train_samples = 10;
  CHECK(open_sources(spec, path, 1).train->size() == 10);
  spec.train_samples = 26;
  CHECK_THAT(error_of(path, spec), Catch::StartsWith("data.train_samples asks for 26"));
}

TEST_CASE("blocks, single records and direct reads give equal samples")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 200, 5);
  auto spec = packed_spec();
  const auto buffered = open_sources(spec, path, 1);
  std::vector<float> alone(6), of_block(6);
  const auto block = buffered.train->fetch({40, 90});
  for (std::int64_t i = 40; i < 90; ++i) {
    const auto label = buffered.train->read(i, alone.data());
    REQUIRE(buffered.train->read({.index = i, .block = block.get()}, of_block.data()).label == label);
    REQUIRE(alone == of_block);
  }
  spec.direct_io = true;
  const auto message = error_of(path, spec);
  if (!message.empty()) { // a file system without O_DIRECT
    CHECK_THAT(message, Catch::Contains("data.direct_io"));
    return;
  }
  const auto direct = open_sources(spec, path, 1);
  const BatchLoader::Options options{.batch_per_rank = 8, .block_bytes = 100};
  CHECK(read_batches(*direct.train, options, 60) == read_batches(*buffered.train, options, 60));
}

TEST_CASE("a packed set's batches do not depend on the number of threads, nor on what is read ahead")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "photos.pack";
  write_jpegs(path, 19, 2);
  auto spec = packed_spec();
  spec.image_size = 24;
  spec.crop = ImageCrop::random_resized;
  spec.flip = true;
  const auto sources = open_sources(spec, path, 1);
  for (const auto order : {DataOrder::blocks, DataOrder::samples, DataOrder::file}) {
    BatchLoader::Options options{.batch_per_rank = 4, .rank = 1, .ranks = 2, .order = order, .block_bytes = 5000, .prefetch = 0};
    const auto expected = read_batches(*sources.train, options, 12);
    for (const std::int64_t threads : {1, 4}) {
      options.prefetch = 3;
      options.threads = threads;
      CHECK(read_batches(*sources.train, options, 12) == expected);
    }
    options.first_step = 5;
    const auto resumed = read_batches(*sources.train, options, 7);
    CHECK(resumed == std::vector(expected.begin() + 5 * 4, expected.end()));
  }
}

TEST_CASE("every epoch of a packed set has every sample once over all ranks, in every order")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 90, 5);
  const auto sources = open_sources(packed_spec(), path, 1);
  for (const auto order : {DataOrder::automatic, DataOrder::blocks, DataOrder::samples, DataOrder::file}) {
    std::vector<int> seen;
    for (int rank = 0; rank < 3; ++rank)
      for (const auto& [label, pixel] :
           read_batches(*sources.train, {.batch_per_rank = 10, .rank = rank, .ranks = 3, .order = order, .block_bytes = 100}, 3))
        seen.push_back(static_cast<int>(std::lround(pixel)));
    std::ranges::sort(seen);
    for (int i = 0; i < 90; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("JPEG images of different sizes need data.image_size, and become images of that size")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "photos.pack";
  write_jpegs(path, 6, 2);
  CHECK(error_of(path, packed_spec()) == "packed set " + path.string() +
                                             ": its images have sides of 40 to 60 pixels, but the network needs one size. Set "
                                             "data.image_size.");
  auto spec = packed_spec();
  spec.image_size = 16;
  const auto sources = open_sources(spec, path, 1);
  CHECK(sources.test->height() == 16);
  std::vector<float> image(3 * 16 * 16);
  CHECK(sources.test->read(1, image.data()) == 1);
  CHECK(image[0] < image[15]); // the gradient grows to the right
  CHECK(std::ranges::all_of(image, [](float value) { return std::abs(value) < 4; }));
}

TEST_CASE("a record that has changed since it was packed is refused by name, or replaced by the next sample and counted")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 25, 7);
  test::damage_record(path, 24);
  test::damage_record(path, 3);
  auto spec = packed_spec();
  std::vector<float> image(6);
  const auto strict = open_sources(spec, path, 1);
  CHECK(strict.train->read(2, image.data()) == 2);
  CHECK_THROWS_WITH(
      strict.train->read(3, image.data()),
      "packed set " + path.string() +
          ": record 3 (sample-3): its bytes have changed since the set was packed. `dtctl data check` finds all such "
          "records; with data.corrupt: skip the run takes the next sample instead.");
  const auto block = strict.train->fetch({0, 10});
  CHECK_THROWS_AS(strict.train->read({.index = 3, .block = block.get()}, image.data()), Error);
  spec.corrupt = CorruptSamples::skip;
  const auto tolerant = open_sources(spec, path, 1);
  CHECK(tolerant.train->read(3, image.data()) == 4);
  CHECK(image[0] == Approx(4));
  CHECK(tolerant.train->read(24, image.data()) == 0); // the first sample follows the last one
  CHECK(tolerant.train->read({.index = 3}, image.data()).is_replaced);
  CHECK_FALSE(tolerant.train->read({.index = 4}, image.data()).is_replaced);
  BatchLoader loader(*tolerant.train, {.batch_per_rank = 5});
  for (int step = 0; step < 5; ++step) loader.next();
  CHECK(loader.replaced_samples() == 2);
  std::vector<float> images(25 * 6);
  std::vector<std::int32_t> labels(25);
  CHECK(read_range(*tolerant.train, {0, 25}, 2, images.data(), labels.data()) == 2);
}

TEST_CASE("a packed set that is shortened while batches are read from it is an error that names the file, in every order")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  for (const auto order : {DataOrder::blocks, DataOrder::samples, DataOrder::file})
    for (const std::int64_t prefetch : {0, 2}) {
      test::write_numbered_pixels(path, 2000, 5);
      const auto sources = open_sources(packed_spec(), path, 1);
      BatchLoader loader(*sources.train, {.batch_per_rank = 50, .order = order, .block_bytes = 100, .prefetch = prefetch});
      loader.next();
      std::filesystem::resize_file(path, packed_records_begin);
      const auto read_all = [&] {
        for (int step = 1; step < 40; ++step) loader.next();
      };
      CHECK_THROWS_WITH(read_all(), Catch::StartsWith("packed set " + path.string() + ": ") &&
                                        Catch::Contains("the file has become shorter since it was opened"));
    }
}

TEST_CASE("a record that is no image is refused with its name")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "photos.pack";
  PackedDescription set{.encoding = PackedEncoding::jpeg, .channels = 3, .height = 8, .width = 8};
  set.train_samples = set.test_samples = 1;
  set.classes = {"a"};
  set.mean = set.deviation = {0.5, 0.5, 0.5};
  test::write_packed(path, {"this is text", jpeg_bytes(gradient(8, 8, 3))}, set);
  const auto sources = open_sources(packed_spec(), path, 1);
  std::vector<float> image(192);
  CHECK_THROWS_WITH(sources.train->read(0, image.data()), Catch::Contains("record 0 (sample-0): the JPEG cannot be decoded"));
  CHECK(sources.test->read(0, image.data()) == 0);
}

TEST_CASE("several threads read a range of samples as one does, and report what cannot be read")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 50, 5);
  const auto sources = open_sources(packed_spec(), path, 1);
  const SampleRange samples{7, 40};
  for (const int threads : {1, 3, 100}) {
    std::vector<float> images(33 * 6);
    std::vector<std::int32_t> labels(33);
    read_range(*sources.train, samples, threads, images.data(), labels.data());
    for (std::size_t i = 0; i < 33; ++i) {
      REQUIRE(labels[i] == static_cast<std::int32_t>((i + 7) % 10));
      REQUIRE(images[6 * i + 5] == Approx(static_cast<double>(i + 7)));
    }
  }
  test::damage_record(path, 38);
  std::vector<float> images(33 * 6);
  std::vector<std::int32_t> labels(33);
  CHECK_THROWS_WITH(read_range(*sources.train, samples, 3, images.data(), labels.data()), Catch::Contains("record 38"));
}

TEST_CASE("a set without test images is refused, because nothing could be evaluated")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "numbers.pack";
  test::write_numbered_pixels(path, 5, 0);
  CHECK(error_of(path, packed_spec()) ==
        "packed set " + path.string() +
            ": it has no test images. Pack it again with --test-fraction, or with a folder of test images.");
}

} // namespace
} // namespace dt::data
