// The state of the git repository around a recipe, which runs record.
#pragma once

#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::cli {

// The commit of the folder's repository and what was changed since: "4f3a… (main), clean", or "4f3a… (main), 2 files changed, 1
// not in git; diff: sources/9c1e….patch of the home, 1.2 KiB". Programs whose files are not in git are named: "4f3a… (main),
// main.py is not in git".
//
// The diff against the commit is kept in that file, named after its content. It has the changes in submodules, too, and `git
// apply` understands it, whatever the user's settings of git are. If it lacks something, "incomplete: " and why follow; of a
// longer one the first MiB is kept. Files that git does not know are counted and named in it if they lie in the folder.
//
// Empty outside of a repository; "unknown: " and git's reason if it cannot say. $DTCTL_GIT_STATE is used as it is if it is set.
std::string source_state(const std::filesystem::path& folder, const std::filesystem::path& sources,
                         const std::vector<ProgramSpec>& programs = {});

} // namespace dt::cli
