// The script of plain jobs and arrays, until the one with requeues and ladders (dispatch.hpp) takes its place.
#pragma once

#include "core/text.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::jobs::slurm {

struct DispatchInput {
  std::filesystem::path batch_folder;
  bool ladder = false;
  std::int64_t requeue = 0;
  std::int64_t signal_ahead_s = 0;
};

// Claims the attempt on its line of tasks and runs its job script.
inline std::string dispatch_script(const DispatchInput& input)
{
  return "#!/bin/bash\nwhile read -r index token nodes limit folder; do [ \"$index\" = \"${SLURM_ARRAY_TASK_ID:-0}\" ] && break; "
         "done < " +
         shell_quote((input.batch_folder / "tasks").string()) +
         "\nset -o noclobber\n"
         "printf '{\"schema\": 1, \"token\": \"%s\", \"job_id\": \"%s\", \"pid\": %d}\\n' \"$token\" \"$SLURM_JOB_ID\" $$ > "
         "\"$folder/owner.json\" || exit 0\n"
         "set +o noclobber\nexec bash \"$folder/job.sh\" \"$folder\" > \"$folder/stdout\" 2> \"$folder/stderr\"\n";
}

} // namespace dt::jobs::slurm
