// Tar files and archives that are cut anywhere, or have any byte changed, end in an error or in a whole set, never in a crash.
#include "core/error.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// Lists and reads the whole source. Returns whether that ended without an error.
bool can_be_read(const fs::path& source)
{
  data::SourceOptions options;
  options.path = source;
  try {
    const auto reader = data::open_source(options);
    std::int64_t items = 0;
    reader->read({0, static_cast<std::int64_t>(reader->listing().items.size())},
                 [&](std::int64_t, std::string_view, std::string_view) { ++items; });
    return items == static_cast<std::int64_t>(reader->listing().items.size());
  } catch (const Error& error) {
    CHECK((error.kind() == ErrorKind::usage || error.kind() == ErrorKind::recipe));
    return false;
  }
}

// Changes each byte of the file in turn, and cuts it before each byte.
void try_all(const fs::path& path, const std::string& whole, std::size_t first_allowed_cut)
{
  write(path, whole);
  REQUIRE(can_be_read(path));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    INFO(at);
    write(path, whole.substr(0, at));
    if (at < first_allowed_cut)
      CHECK_FALSE(can_be_read(path));
    else
      can_be_read(path);
    auto changed = whole;
    changed[at] ^= static_cast<char>(at % 3 == 0 ? 0xff : 0x11);
    write(path, changed);
    can_be_read(path);
  }
}

} // namespace

TEST_CASE("an archive of NumPy that is cut or changed anywhere is refused or read")
{
  const TemporaryFolder folder;
  const std::vector<Member> members{
      {"images.npy", npy("|u1", "(3, 2, 2)", counting(12))},
      {"labels.npy", npy("<i4", "(3,)", little_endian(1, 4) + little_endian(0, 4) + little_endian(2, 4))}};
  for (const bool is_deflated : {false, true}) {
    const auto whole = zip(members, is_deflated);
    try_all(folder.path() / "a.npz", whole, whole.size());
  }
  const auto large = zip(members, false, true);
  try_all(folder.path() / "a.npz", large, large.size());
}

TEST_CASE("changed values in an archive of NumPy are found by its checksum")
{
  const TemporaryFolder folder;
  for (const bool is_deflated : {false, true}) {
    auto whole =
        zip({{"x.npy", npy("|u1", "(2, 8, 8)", counting(128, 1))}, {"y.npy", npy("|u1", "(2,)", std::string("\0\1", 2))}},
            is_deflated);
    const auto path = folder.path() / "a.npz";
    write(path, whole);
    REQUIRE(can_be_read(path));
    const auto at = is_deflated ? whole.find("PK\x03\x04", 4) - 12 : whole.find(counting(8, 1));
    whole[at] ^= 4;
    write(path, whole);
    CHECK_FALSE(can_be_read(path));
  }
}

TEST_CASE("a tar file that is cut or changed anywhere is refused or read")
{
  const TemporaryFolder folder;
  const auto whole = tar({{"1.png", std::string(700, 'x')}, {"1.cls", "0"}});
  const std::size_t contents = 512 + 1024 + 512 + 1; // up to the last byte of 1.cls; zeros follow
  try_all(folder.path() / "a.tar", whole, contents);
}
