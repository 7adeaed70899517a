// What counts as a changed source, while it is packed and between an interrupted call and the next one.
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// MNIST's files with 1,500 training images, which are several parts.
void write_mnist(const fs::path& folder)
{
  constexpr std::uint32_t images = 1500;
  write(folder / "train-images-idx3-ubyte", idx(0x803, {images, 2, 2}, counting(4 * images)));
  write(folder / "train-labels-idx1-ubyte", idx(0x801, {images}, std::string(images - 1, '\0') + '\1'));
  write(folder / "t10k-images-idx3-ubyte", idx(0x803, {1, 2, 2}, counting(4)));
  write(folder / "t10k-labels-idx1-ubyte", idx(0x801, {1}, std::string("\1", 1)));
}

void write_cifar(const fs::path& folder)
{
  for (int i = 1; i <= 5; ++i) {
    std::string records;
    for (int image = 0; image < 200; ++image) records += static_cast<char>(i) + counting(3072, static_cast<unsigned>(image));
    write(folder / ("data_batch_" + std::to_string(i) + ".bin"), records);
  }
  write(folder / "test_batch.bin", '\0' + counting(3072));
}

} // namespace

TEST_CASE("a source that changes while it is packed is refused, and no record is written over another one")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  const auto path = [&](int number) { return source / "a" / (std::to_string(number) + ".jpg"); };
  for (int i = 1000; i < 1600; ++i) write(path(i), i == 1550 ? "" : data::jpeg_bytes(numbered_image(i)));
  auto options = plain_options(source, folder.path() / "s.pack");
  options.threads = 1;
  options.skip_corrupt = true;
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (done == 512) write(path(1550), data::jpeg_bytes(numbered_image(1550)));
  };
  CHECK_THAT(complaint(options), Catch::Contains("1550.jpg: the file had 0 bytes"));
  options.progress = [&](std::int64_t done, std::int64_t) { // the same size, and read already
    if (done == 512) write(path(1000), read(path(1000)));
  };
  CHECK(complaint(options) ==
        "The source (folder s) has changed while it was packed. Pack it again when nothing writes into it.");
  CHECK_FALSE(fs::exists(options.output));
  options.progress = {};
  CHECK(data::pack_data(options).resumed == 0);
}

TEST_CASE("a set of MNIST or CIFAR whose file lies in the folder of its source is packed and resumed")
{
  const TemporaryFolder folder;
  for (const auto write_source : {write_mnist, write_cifar}) {
    const auto source = folder.path() / (write_source == write_mnist ? "mnist" : "cifar");
    write_source(source);
    auto options = plain_options(source, source / "set.pack");
    options.split.test_fraction.reset();
    options.allow_empty_classes = true;
    pack_partly(options, 1);
    const auto result = data::pack_data(options);
    CHECK(result.resumed > 0);
    CHECK(data::pack_data(options).was_there);
    options.output = folder.path() / "outside.pack";
    CHECK(data::pack_data(options).id == result.id);
    fs::remove(options.output);
  }
}

TEST_CASE("a file of the source that was replaced or written again with its old size and time is noticed when packing goes on")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s", image = source / "a" / "0.png";
  write_class_folders(source, {"a", "b", "c"}, 700);
  const auto options = plain_options(source, folder.path() / "s.pack");
  const auto time = fs::last_write_time(image);
  auto other = read(image);
  other.back() = static_cast<char>(other.back() ^ 1);
  for (const bool is_replaced : {false, true}) {
    pack_partly(options, 1);
    const auto place = is_replaced ? folder.path() / "0.png" : image;
    write(place, other);
    fs::last_write_time(place, time);
    if (is_replaced) fs::rename(place, image);
    CHECK_THAT(complaint(options), Catch::Contains("some of its files changed"));
    fs::remove(options.output.string() + ".journal");
    fs::remove(options.output.string() + ".partial");
  }
}
