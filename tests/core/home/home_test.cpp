#include "core/home/home.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// A path of this many bytes for the database of a home below `folder`.
fs::path home_with_database_path(const fs::path& folder, std::size_t bytes)
{
  auto root = folder.string();
  const auto whole = bytes - std::string("/results.db").size();
  while (whole - root.size() > 200) root += "/" + std::string(150, 'd');
  root += "/" + std::string(whole - root.size() - 1, 'd');
  return root;
}

} // namespace

TEST_CASE("a home whose path is too long for its database is refused, also behind a link, and a shorter one is not")
{
  const TemporaryFolder folder;
  require_possible_home(home_with_database_path(folder.path(), longest_database_path));
  const auto longer = home_with_database_path(folder.path(), longest_database_path + 1);
  CHECK(test::message_of([&] { require_possible_home(longer); }) ==
        "The home " + longer.string() +
            " has too long a path: its database results.db would have a path of 505 bytes, and SQLite "
            "takes up to 504. Set DTCTL_HOME to another folder with a shorter path");
  CHECK(test::error_of([&] { require_possible_home(longer); }).kind() == ErrorKind::usage);
  make_folders(longer);
  fs::create_symlink(longer, folder.path() / "link");
  CHECK_THROWS_AS(require_possible_home(folder.path() / "link"), Error);
}

TEST_CASE("a home that is a file is refused, and bytes that mean something elsewhere are not")
{
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "file", "x");
  CHECK(test::message_of([&] { require_possible_home(folder.path() / "file"); }) ==
        "The home " + (folder.path() / "file").string() + " is no folder. Set DTCTL_HOME to another folder");
  require_possible_home(folder.path() / "a ?b#c%41&d=e'f\"");
}
