// The state of the git repository around a recipe, which runs record.
#pragma once

#include <filesystem>
#include <string>

namespace dt::cli {

// The commit of the folder's repository and what was changed since: "4f3a… (main), clean", or "4f3a… (main), 2 files changed, 1
// not in git; diff: sources/9c1e….patch of the home, 1.2 KiB". The diff against the commit is kept in that file, named after its
// content; of a longer one the first MiB. Files that git does not know are counted and named in it if they lie in the folder.
// Empty outside of a repository; "unknown: " and git's reason if it cannot say. $DTCTL_GIT_STATE is used as it is if it is set.
std::string source_state(const std::filesystem::path& folder, const std::filesystem::path& sources);

} // namespace dt::cli
