#include "core/data/packed_file.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fcntl.h>

namespace dt {
namespace {

PackedDescription description_of(std::int64_t train, std::int64_t test)
{
  return {.encoding = PackedEncoding::pixels,
          .channels = 1,
          .height = 2,
          .width = 2,
          .min_side = 2,
          .max_side = 2,
          .train_samples = train,
          .test_samples = test,
          .classes = {"cat", "dog"},
          .mean = {0.5},
          .deviation = {0.25},
          .skipped = 3,
          .source = "folder /data/pets",
          .options = "--seed 1"};
}

// Writes a set of three records.
std::string write_set(const std::filesystem::path& path)
{
  const std::array<std::string, 3> records{"abcd", "efgh", "ijkl"}, names{"cat/1.png", "dog/1.png", "dog/2.png"};
  std::vector<PackedEntry> entries;
  std::ofstream(path, std::ios::binary) << std::string(packed_records_begin, '\0') << records[0] << records[1] << records[2];
  for (std::size_t i = 0; i < records.size(); ++i)
    entries.push_back({packed_records_begin + 4 * i, hash64(records[i]), 4, i == 0 ? 0U : 1U, 0});
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return finish_packed_file(file.get(), path, packed_records_begin + 12, entries, names, description_of(2, 1));
}

// A set in a folder of its own.
struct Pets {
  test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "pets.pack";
  std::string id = write_set(path);
};

std::string error_of_opening(const std::filesystem::path& path)
{
  try {
    PackedFile(path).require_intact_index();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a packed set gives back what was written")
{
  const auto [folder, path, id] = Pets{};
  const PackedFile set(path);
  CHECK(set.id() == id);
  CHECK(packed_id(path) == id);
  REQUIRE(set.size() == 3);
  CHECK(set.entry(1).label == 1);
  CHECK(set.name(2) == "dog/2.png");
  std::string bytes;
  set.read(1, bytes);
  CHECK(bytes == "efgh");
  CHECK(set.is_intact(1, bytes));
  CHECK_FALSE(set.is_intact(0, bytes));
  const auto& description = set.description();
  CHECK(description.train_samples == 2);
  CHECK(description.classes == std::vector<std::string>{"cat", "dog"});
  CHECK(description.deviation == std::vector<double>{0.25});
  CHECK(description.skipped == 3);
}

TEST_CASE("the id of a packed set depends on its records, labels and names")
{
  const auto [folder, path, id] = Pets{};
  CHECK(write_set(path) == id);
  const std::array<std::string, 1> name{"x"}, other{"y"};
  std::array entry{PackedEntry{packed_records_begin, 1, 4, 0, 0}};
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto write = [&](const auto& names) {
    return finish_packed_file(file.get(), path, packed_records_begin + 4, entry, names, description_of(1, 0));
  };
  const auto first = write(name);
  CHECK(write(other) != first);
  entry[0].label = 1;
  CHECK(write(name) != first);
  entry[0].label = 0;
  entry[0].hash = 2;
  CHECK(write(name) != first);
}

TEST_CASE("every truncated packed set is refused")
{
  const auto [folder, path, id] = Pets{};
  const auto bytes = read_file(path);
  for (std::size_t length = 0; length < bytes.size(); length += length < 200 || length + 700 > bytes.size() ? 1 : 97) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    REQUIRE_THROWS_AS(PackedFile(path), Error);
  }
}

TEST_CASE("a packed set that is shortened while it is open is an error that names the file")
{
  const auto [folder, path, id] = Pets{};
  const PackedFile fresh(path), used(path);
  CHECK(used.entry(1).label == 1);
  std::filesystem::resize_file(path, packed_records_begin);
  const auto shorter = Catch::StartsWith("packed set " + path.string() + ": the file has become shorter since it was opened");
  CHECK_THROWS_WITH(fresh.entry(0), shorter);
  CHECK(used.entry(2).label == 1); // its index was read before
  CHECK_THROWS_WITH(used.name(0), shorter);
  CHECK_THROWS_WITH(used.names(), shorter);
  CHECK_THROWS_WITH(used.require_intact_index(), shorter);
  std::string bytes;
  CHECK_THROWS_WITH(used.read(0, bytes), shorter);
}

TEST_CASE("names of any length are read, alone and all at once")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "names.pack";
  const std::array<std::string, 4> names{std::string(255, 'a'), std::string(256, 'b'), "", std::string(3000, 'c')};
  std::vector<PackedEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.push_back({packed_records_begin + 4 * i, 0, 4, 0, 0});
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  finish_packed_file(file.get(), path, packed_records_begin + 16, entries, names, description_of(3, 1));
  const PackedFile set(path);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(set.name(static_cast<std::int64_t>(i)) == names[i]);
  CHECK(set.names() == std::vector(names.begin(), names.end()));
}

TEST_CASE("no changed byte of the header, the index, the names or the description goes unnoticed")
{
  const auto [folder, path, id] = Pets{};
  const auto bytes = read_file(path);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 64) i = packed_records_begin + 16; // padding; the hashes of the records find changes of these
    auto changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    INFO("byte " << i);
    REQUIRE(!error_of_opening(path).empty());
  }
}

TEST_CASE("records that overlap or have another size than their pixels are refused")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "crafted.pack";
  const std::array<std::string, 2> names{"a", "b"};
  const auto write = [&](std::uint64_t second_begin, std::uint32_t bytes) {
    std::array entries{PackedEntry{packed_records_begin, 1, 4, 0, 0}, PackedEntry{second_begin, 1, bytes, 0, 0}};
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    finish_packed_file(file.get(), path, packed_records_begin + 8, entries, names, description_of(2, 0));
    return error_of_opening(path);
  };
  CHECK(write(packed_records_begin + 4, 4).empty());
  CHECK_THAT(write(packed_records_begin + 2, 4), Catch::Contains("entry 1 of its index"));
  CHECK_THAT(write(packed_records_begin + 4, 3), Catch::Contains("entry 1"));
}

TEST_CASE(
    "a file that is no packed set, and a folder in its place, is refused with its path, the cause and the command that packs it")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "text.pack";
  using Catch::Contains;
  CHECK_THAT(error_of_opening(folder.path()), Contains(folder.path().string() + " is a folder") &&
                                                  Contains("dtctl data pack " + folder.path().string() + " -o NAME"));
  CHECK_THAT(error_of_opening(path), Contains("there is no packed set " + path.string()) && Contains("`dtctl data list`"));
  std::ofstream(path) << std::string(100, 'x');
  CHECK_THAT(error_of_opening(path), Contains(path.string() + ": this is no packed set: it does not begin with \"dtpack1\""));
}

} // namespace
} // namespace dt
