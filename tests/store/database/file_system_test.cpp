#include "store/database/file_system.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

TEST_CASE(
    "file systems have their names, network ones and unknown ones do not count as local, and those that machines share as shared")
{
  struct Row {
    std::uint64_t magic;
    const char* name;
    bool is_local, is_shared;
  };
  const std::vector<Row> rows{
      {0x6969, "nfs", false, true},        {0x0BD00BD0, "lustre", false, true},   {0x47504653, "gpfs", false, true},
      {0x19830326, "beegfs", false, true}, {0x00C36400, "ceph", false, true},     {0xFF534D42, "cifs", false, true},
      {0x65735546, "fuse", false, false},  {0x01021997, "9p", false, false},      {0x1234, "0x1234", false, false},
      {0xEF53, "ext4", true, false},       {0x58465342, "xfs", true, false},      {0x9123683E, "btrfs", true, false},
      {0x01021994, "tmpfs", true, false},  {0x794C7630, "overlayfs", true, false}};
  for (const auto& [magic, name, is_local, is_shared] : rows) {
    INFO(name);
    const auto found = file_system_of_type(magic);
    CHECK(found.name == name);
    CHECK(found.local == is_local);
    CHECK(found.shared == is_shared);
  }
}

TEST_CASE("the file system of a file that is not there yet is its folder's")
{
  const dt::test::TemporaryFolder folder;
  CHECK(file_system_at(folder.path() / "new.db").name == file_system_at(folder.path()).name);
  CHECK(error_of([&] { file_system_at(folder.path() / "no" / "such"); }) ==
        "environment: look up the file system of " + (folder.path() / "no" / "such").string() + ": No such file or directory");
}
