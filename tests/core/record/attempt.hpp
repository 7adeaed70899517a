// An attempt in a folder of its own.
#pragma once

#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dt::test {

struct Attempt {
  Attempt() { make_folders(attempt.path()); }
  TemporaryFolder folder;
  AttemptFolder attempt{folder.path(), 1};
};

} // namespace dt::test
