#include "store/database/file_system.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

TEST_CASE("network file systems and unknown ones do not count as local")
{
  for (const auto& [magic, name] : std::vector<std::pair<std::uint64_t, std::string>>{{0x6969, "nfs"},
                                                                                      {0x0BD00BD0, "lustre"},
                                                                                      {0x47504653, "gpfs"},
                                                                                      {0xFF534D42, "cifs"},
                                                                                      {0x65735546, "fuse"},
                                                                                      {0x01021997, "9p"},
                                                                                      {0x1234, "0x1234"}}) {
    CHECK(file_system_of_type(magic).name == name);
    CHECK_FALSE(file_system_of_type(magic).local);
  }
}

TEST_CASE("only file systems that several machines use together count as shared")
{
  for (const std::uint64_t magic : {0x6969U, 0x0BD00BD0U, 0x47504653U, 0x19830326U, 0x00C36400U, 0xFF534D42U})
    CHECK(file_system_of_type(magic).shared);
  for (const std::uint64_t magic : {0xEF53U, 0x01021994U, 0x794C7630U, 0x65735546U, 0x01021997U, 0x1234U})
    CHECK_FALSE(file_system_of_type(magic).shared);
}

TEST_CASE("local file systems count as local")
{
  for (const auto& [magic, name] : std::vector<std::pair<std::uint64_t, std::string>>{
           {0xEF53, "ext4"}, {0x58465342, "xfs"}, {0x9123683E, "btrfs"}, {0x01021994, "tmpfs"}, {0x794C7630, "overlayfs"}}) {
    CHECK(file_system_of_type(magic).name == name);
    CHECK(file_system_of_type(magic).local);
  }
}

TEST_CASE("the file system of a file that is not there yet is its folder's")
{
  const dt::test::TemporaryFolder folder;
  CHECK(file_system_at(folder.path() / "new.db").name == file_system_at(folder.path()).name);
  CHECK(error_of([&] { file_system_at(folder.path() / "no" / "such"); }) ==
        "environment: look up the file system of " + (folder.path() / "no" / "such").string() + ": No such file or directory");
}
