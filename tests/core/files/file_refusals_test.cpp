// A disk that is full and one that is read-only, for real: a small tmpfs, where we may mount one.
#include "core/files/file.hpp"

#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace dt;
namespace fs = std::filesystem;

namespace {

// 256 KiB of disk below a temporary folder.
struct SmallDisk {
  const fs::path& path() const { return folder.path(); }
  bool make_read_only() const { return ::mount("none", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k") == 0; }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {})); }
  test::TemporaryFolder folder;
  test::TinyDisk tmpfs{folder.path(), 256 * 1024};
};

} // namespace

// A small disk with the file "state" on it, or the end of the test case where this user may not mount one.
#define NEED_SMALL_DISK(disk)                                                                                                    \
  const SmallDisk disk;                                                                                                          \
  if (!disk.tmpfs.is_mounted()) {                                                                                                \
    WARN("not shown here: mounting a tmpfs needs root");                                                                         \
    return;                                                                                                                      \
  }                                                                                                                              \
  const auto path = disk.path() / "state";                                                                                       \
  write_file_atomic(path, "old content")

TEST_CASE("on a full disk the old content stays, no file appears that does not fit, the error names the file, and nothing is "
          "left behind")
{
  NEED_SMALL_DISK(disk);
  const auto owner = disk.path() / "owner";
  const std::string too_much(1 << 20, 'x');
  const auto refused = [](const fs::path& wanted) { return "write " + wanted.string() + ": No space left on device"; };
  const auto error = test::error_of([&] { write_file_atomic(path, too_much); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(error.what() == refused(path));
  CHECK(test::message_of([&] { create_file_exclusive(owner, too_much); }) == refused(owner));
  CHECK(read_file(path) == "old content");
  CHECK(disk.entries() == 1);
  CHECK(create_file_exclusive(owner, "small"));
  std::ofstream(disk.path() / "filler") << too_much; // full to the last byte
  CHECK(test::message_of([&] { write_file_atomic(path, "new"); }) == refused(path));
  CHECK(read_file(path) == "old content");
  CHECK(disk.entries() == 3);
}

TEST_CASE("on a read-only disk the old content stays and every refusal names what was wanted")
{
  NEED_SMALL_DISK(disk);
  REQUIRE(disk.make_read_only());
  const auto refused = [](const std::string& what, const fs::path& wanted) {
    return what + " " + wanted.string() + ": Read-only file system";
  };
  const auto other = disk.path() / "other";
  CHECK(test::message_of([&] { write_file_atomic(path, "new"); }) == refused("create", path));
  CHECK(test::message_of([&] { create_file_exclusive(other, "new"); }) == refused("create", other));
  CHECK(test::message_of([&] { make_folders(other); }) == refused("make folder", other));
  CHECK(test::message_of([&] { FileLock::acquire(other); }) == refused("open lock", other));
  CHECK(read_file(path) == "old content");
  CHECK(disk.entries() == 1);
}
