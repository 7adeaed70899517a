#include "recipes/reading/source.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace dt::recipes;
using namespace dt::recipes::test;

TEST_CASE("a missing recipe is named with its nearest neighbour, and a folder or a path through a file is none")
{
  const TemporaryFolder folder;
  folder.write("quickstart.yaml", minimal());
  folder.write("sub/x", "");
  check_refused([&](const std::string& name) { return errors_in(folder, name); },
                {{"quikstart.yaml", "quikstart.yaml: does not exist; did you mean `quickstart.yaml`?"},
                 {"something-else.yaml", "something-else.yaml: does not exist"},
                 {"sub", "sub: is a folder, not a file"},
                 {"quickstart.yaml/x.yaml", "quickstart.yaml/x.yaml: cannot be read: Not a directory"}});
}

TEST_CASE("an unreadable recipe says why")
{
  if (::geteuid() == 0) return; // root reads everything
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.write("r.yaml", minimal()), std::filesystem::perms::none);
  CHECK(errors_in(folder, "r.yaml") == "r.yaml: cannot be read: Permission denied");
}

TEST_CASE("a file beyond 4 MiB is refused before it is parsed, a device without end too")
{
  CHECK(errors_of(std::string(largest_source_bytes + 1, '#')) == "r.yaml: is larger than 4 MiB; this is not a recipe");
  CHECK_THROWS_WITH(load_plan("/dev/zero", {}), "/dev/zero: is larger than 4 MiB; this is not a recipe");
}

TEST_CASE("bytes that are not UTF-8 and a NUL are pointed at, and UTF-16 is named as such")
{
  check_refused([](const std::string& text) { return errors_of(text); },
                {{"version: 1\nname: caf\xe9\n", "r.yaml:2:10: byte 0xe9 is not UTF-8; save the file as UTF-8"},
                 {"# é\xff\n", "r.yaml:1:4: byte 0xff is not UTF-8"},
                 {"# cut \xe2\x82", "r.yaml:1:7: byte 0xe2 is not UTF-8"},
                 {{"\xff\xfev\0", 4}, "r.yaml: is UTF-16; save it as UTF-8"},
                 {{"\xfe\xff\0v", 4}, "r.yaml: is UTF-16; save it as UTF-8"},
                 {{"version: 1\na\0b", 14}, "r.yaml:2:2: a NUL byte; this is not a text file"}});
}

TEST_CASE("a byte-order mark is not part of the first key, lines may end in CR LF, and places stay right")
{
  CHECK(errors_of("\xEF\xBB\xBF" + minimal()).empty());
  CHECK(errors_of("\xEF\xBB\xBFversion: 2\n").starts_with("r.yaml:1:1: "));
  std::string text;
  for (const char c : minimal("resources: { nodes: 0 }\n")) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(errors_of(text) == "r.yaml:5:21: `resources.nodes` is 0; allowed: 1 to 1000000 nodes");
}
