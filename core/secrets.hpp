// Values that must not be shown: environment variables whose names look like those of secrets.
#pragma once

#include "core/run_spec.hpp"
#include "core/spec_schema.hpp"

#include <map>
#include <string>
#include <string_view>

namespace dt {

// What is shown instead of a secret.
inline constexpr std::string_view secret_mask = "***";

// Whether a variable of this name is taken for a secret: its name holds TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL,
// PRIVATE, AUTHORIZATION or COOKIE, or one of its words, divided by `_`, is KEY, APIKEY, AUTH, PASS, PWD or PAT. Case does not matter.
bool looks_secret(std::string_view name);

// The same variables, with the mask for the values of those that look secret.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

// The same run, with resources.env without secrets: to be shown, not to be run.
RunSpec without_secrets(RunSpec spec);

// A key's value as text, with the mask for variables that look secret.
std::string text_without_secrets(const FieldValue& value);

// A recipe's text, with the mask for what stands behind `NAME:` or `NAME=` where the name looks secret. Only values on the name's
// own line are found.
std::string without_secrets(std::string_view recipe_text);

} // namespace dt
