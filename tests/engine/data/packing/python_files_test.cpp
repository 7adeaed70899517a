// Files that Python's libraries have written (python_files.py).
#include "core/machine/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

TEST_CASE("records equal what PIL, NumPy, h5py and tarfile read from the files that they have written")
{
  const dt::test::TemporaryFolder folder;
  const auto result =
      dt::run_command({"env", "-C", folder.path().string(), "/usr/bin/python3",
                       DTCTL_SOURCE_DIR "/tests/engine/data/packing/python_files.py", DTCTL_BINARY_DIR "/bin/dtengine"});
  constexpr int library_missing = 77;
  if (result.exit_code == library_missing) {
    WARN("python3-pil, python3-numpy or python3-h5py is missing: nothing was compared");
    return;
  }
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}
