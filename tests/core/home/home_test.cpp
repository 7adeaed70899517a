#include "core/home/home.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
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
  const auto error = test::error_of([&] { require_possible_home(longer); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK_THAT(error.what(),
             Catch::StartsWith("The home " + longer.string() + " has too long a path") && Catch::Contains("505 bytes"));
  make_folders(longer);
  fs::create_symlink(longer, folder.path() / "link");
  CHECK_THROWS_AS(require_possible_home(folder.path() / "link"), Error);
}

TEST_CASE("a home that is a file is refused, and bytes that mean something elsewhere are not")
{
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "file", "x");
  CHECK_THROWS_WITH(require_possible_home(folder.path() / "file"), Catch::Contains("file is no folder"));
  require_possible_home(folder.path() / "a ?b#c%41&d=e'f\"");
}
