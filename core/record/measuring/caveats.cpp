#include "core/record/measuring/caveats.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::array kinds{
    CaveatKind{"copies", "ranks that exchange nothing, or that train with the same batches: more of them train no faster"},
    CaveatKind{"exchange", "ranks with equal losses, of which it is not seen whether they exchange anything"},
    CaveatKind{"replicas", "weights or learning rates that should be equal on all ranks and are not"},
    CaveatKind{"data", "batches that were taken for a worker's own part, or that no worker has trained with"},
    CaveatKind{"samples", "samples of a step that are not known, and why"},
    CaveatKind{"communication", "waiting for other ranks that could not be measured, and why"},
    CaveatKind{"processes", "processes or threads that trained beside the one that was observed"},
    CaveatKind{"observation", "where the observer stopped, and why"},
    CaveatKind{"reports", "ranks that reported no steps, or stopped to report them"},
    CaveatKind{"metrics", "figures of program.metrics that were left out or are doubtful"},
    CaveatKind{"losses", "losses of steps that are of one optimizer now, of another then"},
    CaveatKind{"warm-up", "first measured steps that take longer than the later ones, and the warm-up that leaves them out"},
    CaveatKind{"time", "times that are not known, and why"},
    CaveatKind{"packages", "packages that have changed since the submission, and that the program has imported"},
    CaveatKind{"machine", "nodes of which it is not known who else used them"},
};

} // namespace

std::span<const CaveatKind> caveat_kinds() { return kinds; }

bool is_caveat_kind(std::string_view name)
{
  return std::ranges::any_of(kinds, [&](const CaveatKind& kind) { return kind.name == name; });
}

void add_caveat(TextMap& caveats, std::string_view kind, const std::string& sentence)
{
  if (!is_caveat_kind(kind)) throw Error(ErrorKind::internal, "there is no kind of caveat " + std::string(kind));
  auto& text = caveats[std::string(kind)];
  if (text.find(sentence) != std::string::npos) return;
  text += (text.empty() ? "" : "; ") + sentence;
}

} // namespace dt
