// How two sides of a comparison were measured apart, and what that keeps a verdict from saying, in words.
#pragma once

#include "store/analysis/verdict/limit.hpp"

#include <string>

namespace dt::cli {

// Returns "3d2h apart on other hosts"; "apart by an unknown time" if it is not known.
std::string apart_text(const store::Separation& separation);

// Returns "the runs of A began 3d2h after those of B had ended", or less if less is known; of sides that other nodes alone
// divide, that.
std::string time_text(const store::Separation& separation);

// Why a difference of two sides may be none of theirs, as the end of a sentence about them ("were measured on different nodes, so
// that …"), and what to do. Empty for Confounded::no.
struct Confounding {
  std::string why, remedy;
};
Confounding words_about(store::Confounded by);

// Why the verdict is limited, and what to do: "the repeats trained with one seed, so …; study.vary_seed: true gives …". Empty
// without a limit.
std::string limit_text(const store::Limit& limit);

} // namespace dt::cli
