// Caveats: what limits the measurement of a run, a sentence for each kind (RunResult::caveats). Whoever knows of a limit, the
// observer, dtctl_sync or dtjob, records it here, so that results, the report and `dtctl show` say what the run's log says.
#pragma once

#include "core/record/field.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dt {

struct CaveatKind {
  std::string_view name; // in records, and in front of the sentence in results
  std::string_view help; // what its sentences are about
};
std::span<const CaveatKind> caveat_kinds();
bool is_caveat_kind(std::string_view name);

// Adds a sentence, without a full stop at its end, behind those of the same kind; nothing if it is there already. Throws an
// internal error for a kind that is not in the table.
void add_caveat(TextMap& caveats, std::string_view kind, const std::string& sentence);

} // namespace dt
