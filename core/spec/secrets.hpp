// Hiding secrets: values of environment variables whose names look like those of secrets are masked in all output.
#pragma once

#include "core/spec/run_spec.hpp"
#include "core/spec/spec_schema.hpp"

#include <map>
#include <string>
#include <string_view>

namespace dt {

// The text that replaces a secret.
inline constexpr std::string_view secret_mask = "***";

// Whether a variable with this name is treated as a secret. That is so if the name contains TOKEN, SECRET, PASSWORD, PASSWD,
// PASSPHRASE, CREDENTIAL, PRIVATE, AUTHORIZATION or COOKIE, or if one of its words (separated by `_`) is KEY, APIKEY, AUTH, PASS,
// PWD or PAT. Case does not matter.
bool looks_secret(std::string_view name);

// Returns the same variables with the values of secrets masked.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

// Returns the same spec with the secrets in resources.env and program.parameters masked. Only for display: such a spec must not
// be run.
RunSpec without_secrets(RunSpec spec);

// Returns the value of a recipe key as text, with the values of secrets masked.
std::string text_without_secrets(const FieldValue& value);

// Masks the values after `NAME:` or `NAME=` in the text of a recipe if NAME looks like a secret, also values of several lines.
std::string without_secrets(std::string_view recipe_text);

} // namespace dt
