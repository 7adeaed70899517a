// Whether the ranks of a user's own program train together, from what they report about their exchange and from their losses.
#pragma once

#include "jobs/program/reports/rank_report.hpp"

#include <span>

namespace dt::jobs {

// A caveat of the kind `copies`: the samples of the ranks do not add up, so they have no throughput. Of the kind `exchange`:
// perhaps they do not. Without a kind: there is no doubt. Ranks that train with dtctl_sync are never doubted here. Ranks are
// called copies only where it is known that nothing is exchanged or, by their equal losses, that what is exchanged changes
// nothing.
CaveatLine doubt_of_exchange(std::span<const RankReport> reports);

} // namespace dt::jobs
