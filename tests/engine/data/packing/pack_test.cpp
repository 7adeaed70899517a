// The packed file: equal bytes, exact statistics, interruptions, sets that are there already.
#include "engine/data/packing/check.hpp"
#include "engine/data/packing/journal.hpp"
#include "engine/data/packing/record_maker.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/traced_program.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// A folder with 2,100 images, which are five parts.
fs::path write_source(const TemporaryFolder& folder)
{
  write_class_folders(folder.path() / "s", {"a", "b", "c"}, 700);
  return folder.path() / "s";
}

} // namespace

TEST_CASE("equal sources and options give equal bytes for any number of threads and in any folder")
{
  const TemporaryFolder folder;
  data::PackOptions options = plain_options(write_source(folder), folder.path() / "1.pack");
  options.split = {};
  for (const int threads : {1, 4}) {
    options.threads = threads;
    options.output = folder.path() / (std::to_string(threads) + ".pack");
    data::pack_data(options);
  }
  CHECK(read(folder.path() / "1.pack") == read(folder.path() / "4.pack"));
  const PackedFile file(folder.path() / "1.pack");
  CHECK(file.description().train_samples == 1890);
  CHECK(file.description().test_samples == 210);
  CHECK(file.description().options == "--encoding pixels --background '#ffffff' --test-fraction 0.1 --order shuffled --seed 1");
  file.require_intact_index();
}

TEST_CASE("means and deviations are those of the training images")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  double sum = 0, square = 0;
  for (int i = 0; i < 10; ++i) {
    Image image;
    image.reshape(1, 2, 1);
    image.pixels = {static_cast<std::uint8_t>(i * 20), static_cast<std::uint8_t>(255 - i)};
    for (const double value : {i * 20.0, 255.0 - i}) sum += value / 255, square += value / 255 * value / 255;
    write(source / "train" / "a" / (std::to_string(i) + ".png"), data::encode_png(image));
  }
  write(source / "test" / "a" / "x.png", png(1, 1, 2, 1));
  auto options = plain_options(source, folder.path() / "s.pack");
  options.split.test_fraction.reset();
  const auto set = data::pack_data(options).description;
  CHECK(set.mean.at(0) == Approx(sum / 20).epsilon(1e-14));
  CHECK(set.deviation.at(0) == Approx(std::sqrt(square / 20 - sum / 20 * sum / 20)).epsilon(1e-12));
}

TEST_CASE("JPEG files are stored as they are, with the range of their sides")
{
  const TemporaryFolder folder;
  const auto first = data::jpeg_bytes(data::gradient(20, 30, 3)), second = data::jpeg_bytes(data::gradient(50, 11, 3));
  write(folder.path() / "s" / "a" / "1.jpg", first);
  write(folder.path() / "s" / "a" / "2.JPEG", second);
  data::pack_data(plain_options(folder.path() / "s", folder.path() / "s.pack"));
  const PackedFile file(folder.path() / "s.pack");
  CHECK(file.description().encoding == PackedEncoding::jpeg);
  CHECK(file.description().height == 0);
  CHECK(file.description().min_side == 11);
  CHECK(file.description().max_side == 50);
  CHECK(record(file, 0) == first);
  CHECK(record(file, 1) == second);
  write(folder.path() / "s" / "a" / "3.jpg", png(1));
  auto options = plain_options(folder.path() / "s", folder.path() / "t.pack");
  CHECK_THAT(complaint(options), Catch::Contains("a/3.jpg: the file is a PNG image, but its name says JPEG"));
}

TEST_CASE("a size crops images in their centre and resizes them")
{
  CHECK(data::centre_crop(100, 200, 50, 50) == data::Rectangle{0, 50, 100, 100});
  CHECK(data::centre_crop(200, 100, 50, 50) == data::Rectangle{50, 0, 100, 100});
  CHECK(data::centre_crop(100, 200, 50, 100) == data::Rectangle{0, 0, 100, 200});
  CHECK(data::centre_crop(1, 1000, 1000, 1) == data::Rectangle{0, 499, 1, 1});
  const TemporaryFolder folder;
  Image image;
  image.reshape(2, 6, 1);
  image.pixels = {9, 9, 10, 20, 9, 9, 9, 9, 30, 40, 9, 9};
  write(folder.path() / "s" / "a" / "1.png", data::encode_png(image));
  auto options = plain_options(folder.path() / "s", folder.path() / "s.pack");
  options.height = options.width = 2;
  data::pack_data(options);
  CHECK(record(PackedFile(options.output), 0) == "\x0a\x14\x1e\x28");
  options.output = folder.path() / "t.pack";
  options.height = options.width = 1;
  options.channels = 3;
  data::pack_data(options);
  CHECK(record(PackedFile(options.output), 0) == std::string(3, 25));
}

TEST_CASE("packing goes on where it was interrupted, and the file is the same")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "whole.pack");
  data::pack_data(options);
  options.output = folder.path() / "s.pack";
  pack_partly(options, 1);
  pack_partly(options, 2);
  CHECK_FALSE(fs::exists(options.output));
  int reports = 0;
  options.progress = [&](std::int64_t, std::int64_t) { ++reports; };
  const auto result = data::pack_data(options);
  CHECK(result.resumed >= 3 * 512);
  CHECK(reports <= 1 + 2); // one for what was done, one for each of the missing parts
  CHECK(read(options.output) == read(folder.path() / "whole.pack"));
}

TEST_CASE("a damaged or torn journal costs the parts behind the damage only")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "whole.pack");
  data::pack_data(options);
  options.output = folder.path() / "s.pack";
  const auto journal = folder.path() / "s.pack.journal";
  pack_partly(options, 3);
  const auto bytes = read(journal);
  for (const auto length : {std::size_t{0}, std::size_t{7}, std::size_t{60}, bytes.size() / 2, bytes.size() - 1}) {
    options.restart = true;
    pack_partly(options, 3);
    options.restart = false;
    write(journal, bytes.substr(0, length));
    CHECK(data::pack_data(options).resumed < 2100);
    CHECK(read(options.output) == read(folder.path() / "whole.pack"));
    fs::remove(options.output);
  }
  options.restart = true;
  pack_partly(options, 3);
  options.restart = false;
  fs::resize_file(folder.path() / "s.pack.partial", 6000); // a torn copy of the records
  CHECK(data::pack_data(options).resumed == 0);
  CHECK(read(options.output) == read(folder.path() / "whole.pack"));
  fs::remove(options.output);
  for (auto at = bytes.size() - 4000; at < bytes.size(); at += 350) { // hashes of records, among others
    auto damaged = bytes;
    damaged[at] ^= 1;
    pack_partly(options, 3);
    write(journal, damaged);
    data::pack_data(options);
    CHECK(read(options.output) == read(folder.path() / "whole.pack"));
    fs::remove(options.output);
  }
}

TEST_CASE("what was interrupted with other options or with another source is kept until --restart")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "s.pack");
  pack_partly(options, 1);
  auto other = options;
  other.channels = 1;
  CHECK(complaint(other) ==
        folder.path().string() +
            "/s.pack.partial is there from a call that was interrupted, with other options (--encoding pixels "
            "--background '#ffffff' --test-fraction 0 --order source). Repeat that call, or begin anew with --restart.");
  write(folder.path() / "s" / "a" / "0.png", png(99));
  CHECK_THAT(complaint(options), Catch::Contains("with the source as it was before some of its files changed"));
  options.restart = true;
  CHECK(data::pack_data(options).resumed == 0);
}

TEST_CASE("a set that is there is left as it is if it would be equal, and is never replaced otherwise")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write_class_folders(source, {"a", "b"}, 4);
  auto options = plain_options(source, folder.path() / "s.pack");
  const auto id = data::pack_data(options).id;
  const auto again = data::pack_data(options);
  CHECK(again.was_there);
  CHECK(again.id == id);
  auto other = options;
  other.split.test_fraction = 0.5;
  CHECK(complaint(other) == options.output.string() +
                                " exists already, and it was packed with other options (--encoding pixels --background '#ffffff' "
                                "--test-fraction 0 --order source). Nothing was written; choose another name, or replace it with "
                                "--force.");
  write(source / "b" / "9.png", png(9));
  CHECK_THAT(complaint(options), Catch::Contains("and the source has other images now."));
  CHECK(PackedFile(options.output).id() == id);
  options.force = true;
  CHECK(data::pack_data(options).description.train_samples == 9);
  options.force = false;
  auto damaged = read(options.output);
  damaged[packed_records_begin + 9 * 90 + 8] ^= 1; // the hash of the first record, in the index
  for (const auto& bytes : {std::string("something else"), damaged}) {
    write(options.output, bytes);
    CHECK_THAT(complaint(options), Catch::Contains("exists already, and it is not a complete packed set, or damaged."));
    CHECK(read(options.output) == bytes);
  }
}

TEST_CASE("a call that was killed before any of its calls that change files goes on when it is repeated, and leaves no journal")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write_class_folders(source, {"a", "b"}, 4);
  auto options = plain_options(source, folder.path() / "s.pack");
  options.threads = 1;
  const auto pack_until = [&](int call) { return dt::test::TracedProgram([&] { data::pack_data(options); }).run(call); };
  const int calls = pack_until(0).changes;
  REQUIRE(calls > 2);
  const auto whole = read(options.output);
  for (int call = 1; call <= calls; ++call) {
    for (const auto* ending : {"", ".partial", ".journal"}) fs::remove(options.output.string() + ending);
    INFO("killed before call " << call << " of " << calls);
    CHECK(pack_until(call).killed);
    data::pack_data(options);
    CHECK(read(options.output) == whole);
    CHECK_FALSE(fs::exists(options.output.string() + ".journal"));
    CHECK_FALSE(fs::exists(options.output.string() + ".partial"));
  }
}

TEST_CASE("a file that appears while a set is packed is not replaced")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "s.pack");
  options.progress = [&](std::int64_t, std::int64_t) { write(options.output, "mine"); };
  CHECK_THAT(complaint(options), Catch::StartsWith("Another process has made " + options.output.string() + " meanwhile; ") &&
                                     Catch::EndsWith("repeat this call with --force."));
  CHECK(read(options.output) == "mine");
  options.progress = {};
  options.force = true;
  CHECK(data::pack_data(options).resumed == 2100);
  CHECK(read(options.output) != "mine");
  CHECK_FALSE(fs::exists(options.output.string() + ".partial"));
}

TEST_CASE("an equal set that appears while a set is packed is the one that was wanted")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "s.pack");
  data::pack_data(options);
  const auto equal = folder.path() / "equal.pack";
  fs::rename(options.output, equal);
  options.progress = [&](std::int64_t, std::int64_t) {
    if (fs::exists(equal)) fs::rename(equal, options.output);
  };
  CHECK(data::pack_data(options).was_there);
  for (const auto* ending : {".partial", ".journal"}) CHECK_FALSE(fs::exists(options.output.string() + ending));
}

TEST_CASE("two calls never pack the same set at the same time")
{
  const TemporaryFolder folder;
  auto options = plain_options(write_source(folder), folder.path() / "s.pack");
  std::string second;
  options.progress = [&](std::int64_t, std::int64_t) {
    auto other = options;
    other.progress = {};
    if (second.empty()) second = complaint(other);
  };
  data::pack_data(options);
  CHECK(second == "Another process packs or removes " + options.output.string() + " at this moment. Wait until it has ended.");
}

TEST_CASE("check finds changed records, and with decoding those that never were images")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  for (int i = 0; i < 200; ++i) write(source / "a" / (std::to_string(i) + ".jpg"), data::jpeg_bytes(numbered_image(i)));
  const auto options = plain_options(source, folder.path() / "s.pack");
  data::pack_data(options);
  CHECK(data::check_packed({.path = options.output, .decode = true, .threads = 2}).bad.empty());
  damage_record(options.output, 3);
  damage_record(options.output, 150);
  const auto result = data::check_packed({.path = options.output, .threads = 2});
  CHECK(result.records == 200);
  REQUIRE(result.bad.size() == 2);
  CHECK(result.bad[0].record == 3);
  CHECK(result.bad[1].name == "a/54.jpg");
  CHECK(result.bad[1].cause == "its bytes are not those that were packed");
  PackedDescription set{.encoding = PackedEncoding::jpeg, .channels = 3, .min_side = 1, .max_side = 9};
  set.train_samples = 2;
  set.classes = {"a"};
  set.mean = set.deviation = {0.5, 0.5, 0.5};
  write_packed(folder.path() / "w.pack", {data::jpeg_bytes(numbered_image(1)), "no image"}, set);
  CHECK(data::check_packed({.path = folder.path() / "w.pack"}).bad.empty());
  const auto decoded = data::check_packed({.path = folder.path() / "w.pack", .decode = true});
  REQUIRE(decoded.bad.size() == 1);
  CHECK(decoded.bad[0].cause == "the file is not a JPEG, PNG or WebP image");
}
