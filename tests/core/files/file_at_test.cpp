#include "core/files/file_at.hpp"

#include "core/units.hpp"
#include "tests/support/temporary_folder.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

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

TEST_CASE("a file is opened for writing without waiting for the reader of a FIFO, and refused if it is no file")
{
  const test::TemporaryFolder folder;
  const auto fifo = folder.path() / "fifo", file = folder.path() / "file";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto refusal = "write " + fifo.string() + ": Is a FIFO or a device, not a file";
  CHECK_THROWS_WITH(open_regular(fifo, O_WRONLY | O_CREAT | O_APPEND), refusal);
  const Descriptor reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK));
  CHECK_THROWS_WITH(open_regular(fifo, O_WRONLY), refusal);
  CHECK_THROWS_WITH(open_regular(folder.path(), O_WRONLY), "open " + folder.path().string() + ": Is a directory");
  CHECK_THROWS_WITH(open_regular(file, O_WRONLY), "open " + file.string() + ": No such file or directory");
  const auto opened = open_regular(file, O_WRONLY | O_CREAT | O_APPEND);
  write_all(opened.get(), "a", file);
  CHECK((::fcntl(opened.get(), F_GETFL) & (O_NONBLOCK | O_APPEND)) == O_APPEND); // as a program that inherits it expects
  write_all(open_regular(file, O_WRONLY | O_CREAT | O_APPEND).get(), "b", file);
  CHECK(read_file(file) == "ab");
}

TEST_CASE("when a file was changed is told by the clock of its file system, in the time of this process")
{
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "file";
  CHECK(std::isnan(changed_unix_s(file)));
  write_file_atomic(file, "");
  CHECK(std::abs(changed_unix_s(file) - now_unix_s()) < 60);
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) - std::chrono::hours(1));
  CHECK(std::abs(changed_unix_s(file) - (now_unix_s() - 3600)) < 60);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"}); // the clock was asked by a file without a name
}
