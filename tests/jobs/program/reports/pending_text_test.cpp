#include "jobs/program/reports/pending_text.hpp"

#include "core/files/file.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/tiny_disk.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("text that a full disk took in part is written once as soon as there is room")
{
  const jobs::testing::Folder folder;
  const test::TinyDisk disk(folder.path(), 64 * 1024);
  if (!disk.is_mounted()) return; // needs root
  const auto path = folder.path() / "stderr";
  PendingText text(path);
  std::string expected;
  for (int i = 0; i < 10'000; ++i) expected += "step " + std::to_string(i) + "\n"; // more than the disk holds
  text.add(expected);
  std::ofstream(folder.path() / "other") << std::string(32 * 1024, 'x');
  for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH(text.write(), "write " + path.string() + ": No space left on device");
  const auto part = read_file(path);
  CHECK(!part.empty());
  CHECK(expected.starts_with(part));
  text.add("the end\n");
  std::filesystem::remove(folder.path() / "other");
  REQUIRE_THROWS(text.write()); // still too little
  REQUIRE(::mount("none", folder.path().c_str(), nullptr, MS_REMOUNT, "size=1048576") == 0);
  text.write();
  text.write();
  CHECK(read_file(path) == expected + "the end\n");
}

TEST_CASE("a file that others append to keeps their lines")
{
  const jobs::testing::Folder folder;
  const auto path = folder.path() / "stderr";
  PendingText text(path);
  text.add("one\n");
  text.write();
  std::ofstream(path, std::ios::app) << "theirs\n";
  text.add("two\n");
  text.write();
  CHECK(read_file(path) == "one\ntheirs\ntwo\n");
}
