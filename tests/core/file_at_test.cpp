#include "core/file_at.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <fcntl.h>

using namespace dt;

TEST_CASE("bytes at a position are written and read, and the end of the file ends a read")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  write_at(file.get(), "abcdef", 4, path);
  write_at(file.get(), "XY", 6, path);
  std::string bytes(6, '\0');
  CHECK(read_at(file.get(), bytes.data(), 6, 4, path) == 6);
  CHECK(bytes == "abXYef");
  CHECK(read_at(file.get(), bytes.data(), 6, 8, path) == 2);
  CHECK(read_at(file.get(), bytes.data(), 6, 100, path) == 0);
  CHECK_THROWS_WITH(read_at(-1, bytes.data(), 6, 0, path), "read " + path.string() + ": Bad file descriptor");
  CHECK_THROWS_WITH(write_at(-1, "a", 0, path), "write " + path.string() + ": Bad file descriptor");
}

TEST_CASE("the lock on a removable file is on the file that has the path, and only one holds it")
{
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "lock";
  {
    const auto first = try_lock_removable(path);
    REQUIRE(first);
    CHECK_FALSE(try_lock_removable(path));
    std::filesystem::remove(path);
    CHECK(try_lock_removable(path)); // another file has the path now
  }
  CHECK(try_lock_removable(path));
}
