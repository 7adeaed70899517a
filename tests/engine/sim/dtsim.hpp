// Starts dtsim and reads its output.
#pragma once

#include "core/process.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline CommandResult dtsim(Words words)
{
  words.insert(words.begin(), DTCTL_BINARY_DIR "/bin/dtsim");
  return run_command(words);
}

// The output of a command that must succeed.
inline Json json_of(Words words)
{
  words.emplace_back("--json");
  const auto result = dtsim(words);
  INFO(result.err);
  REQUIRE(result.ok());
  return Json::parse(result.out);
}

} // namespace dt::test
