// Jobs as squeue and sacct print them. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// The value of squeue's --Format, and the reader of what it then prints with --array. `now_unix_s` is when squeue was started:
// how long a job was suspended follows from how long it has run.
std::string squeue_format();
std::vector<SlurmRecord> read_queue(std::string_view text, std::int64_t now_unix_s);

// The value of sacct's --format, and the reader of what it then prints with --parsable. `has_failed_node`: sacct of this release
// has that field (23.02).
std::string sacct_format(bool has_failed_node);
std::vector<SlurmRecord> read_past(std::string_view text, bool has_failed_node);

} // namespace dt::jobs::slurm
