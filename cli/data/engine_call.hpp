// Calls of `dtengine data`, whose progress is shown while it works.
#pragma once

#include "cli/command/context.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Runs `dtengine data WORDS…` and shows the images per second and the remaining time of its lines "images DONE ALL". `work` names
// the work in error messages: "packing the data set". Throws the engine's own usage errors; an environment error with the command
// and its output if the engine fails otherwise. Returns the last line of its standard output.
std::string call_engine(Context& context, const std::vector<std::string>& words, const std::string& work);

// Like call_engine, for verbs that print one JSON value.
Json ask_engine(Context& context, std::vector<std::string> words, const std::string& work);

} // namespace dt::cli
