// A small JSON Schema validator: the keywords that the recipe schema uses, and a refusal of all others.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::recipes::test {

// A recipe's YAML as the JSON an editor would check: unquoted numbers and booleans typed.
nlohmann::json json_of_yaml(const std::string& text);

// "/train/epochs: type", a line each mistake; std::logic_error for a keyword it does not know.
std::vector<std::string> violations(const nlohmann::json& schema, const nlohmann::json& value, const std::string& where = "");

} // namespace dt::recipes::test
