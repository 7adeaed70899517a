// Other words for verbs: `submit` for sweep, and the verbs of earlier releases, which scripts may still use.
#pragma once

#include <string>
#include <vector>

namespace dt::cli {

// The words after `dtctl`, with today's verb and options in place of a synonym: {"watch", "last"} becomes {"status", "--follow",
// "last"}. Options may stand before the verb. Other words stay as they are.
std::vector<std::string> with_todays_verb(std::vector<std::string> words);

} // namespace dt::cli
