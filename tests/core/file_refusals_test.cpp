// A disk that is full and one that is read-only, for real: a small tmpfs, where we may mount one.
#include "core/file.hpp"

#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include <sys/mount.h>

using namespace dt;
namespace fs = std::filesystem;

namespace {

// 256 KiB of disk below a temporary folder, unmounted on destruction.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("dtctl-test", folder_.path().c_str(), "tmpfs", 0, "size=256k") == 0) {}
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk()
  {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const fs::path& path() const { return folder_.path(); }
  bool make_read_only() const { return ::mount("dtctl-test", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k") == 0; }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), {})); }

 private:
  test::TemporaryFolder folder_;
  bool mounted_;
};

} // namespace

// A small disk with the file "state" on it, or the end of the test case where this user may not mount one.
#define NEED_SMALL_DISK(disk)                                                                                                    \
  const SmallDisk disk;                                                                                                          \
  if (!disk.mounted()) {                                                                                                         \
    WARN("not shown here: mounting a tmpfs needs root");                                                                         \
    return;                                                                                                                      \
  }                                                                                                                              \
  const auto path = disk.path() / "state";                                                                                       \
  write_file_atomic(path, "old content")

TEST_CASE("on a full disk the old content stays, the error names the file, and nothing is left behind")
{
  NEED_SMALL_DISK(disk);
  const std::string too_much(1 << 20, 'x');
  const auto error = test::error_of([&] { write_file_atomic(path, too_much); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()) == "write " + path.string() + ": No space left on device");
  CHECK(read_file(path) == "old content");
  CHECK(disk.entries() == 1);
}

TEST_CASE("on a full disk no exclusive file appears, and one that fits still does")
{
  NEED_SMALL_DISK(disk);
  const auto owner = disk.path() / "owner";
  CHECK(test::message_of([&] { create_file_exclusive(owner, std::string(1 << 20, 'x')); }) ==
        "write " + owner.string() + ": No space left on device");
  CHECK_FALSE(fs::exists(owner));
  CHECK(disk.entries() == 1);
  CHECK(create_file_exclusive(owner, "small"));
}

TEST_CASE("a disk that is already full to the last byte refuses the smallest file by name")
{
  NEED_SMALL_DISK(disk);
  std::ofstream(disk.path() / "filler") << std::string(1 << 20, 'x');
  CHECK(test::message_of([&] { write_file_atomic(path, "new"); }) == "write " + path.string() + ": No space left on device");
  CHECK(read_file(path) == "old content");
  CHECK(disk.entries() == 2);
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
