#include "core/spec/secrets.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

std::string upper(std::string_view text)
{
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Position at which the name that ends before `end` begins.
std::size_t begin_of_name(std::string_view text, std::size_t end)
{
  while (end > 0 && is_name_byte(text[end - 1])) --end;
  return end;
}

// Position after the value that begins at `begin`. A quoted value includes its quotes; another value ends at a comma, a brace, a
// comment or the end of the line.
std::size_t end_of_value(std::string_view line, std::size_t begin)
{
  const char quote = begin < line.size() ? line[begin] : ' ';
  if (quote == '"' || quote == '\'') {
    const auto end = line.find(quote, begin + 1);
    return end == line.npos ? line.size() : end + 1;
  }
  const auto end = std::min({line.find(',', begin), line.find('}', begin), line.find(" #", begin), line.size()});
  return begin + trim(line.substr(begin, end - begin)).size();
}

std::string masked_line(std::string_view line)
{
  std::string shown;
  std::size_t done = 0;
  for (auto at = line.find_first_of(":="); at != line.npos; at = line.find_first_of(":=", at + 1)) {
    if (at < done) continue;
    auto name_end = at;
    if (name_end > 0 && (line[name_end - 1] == '"' || line[name_end - 1] == '\'')) --name_end; // a quoted key
    const auto name = begin_of_name(line, name_end);
    const auto value = std::min(line.find_first_not_of(" \t", at + 1), line.size());
    if (!looks_secret(line.substr(name, name_end - name)) || value == line.size()) continue;
    shown.append(line.substr(done, value - done)).append(secret_mask);
    done = end_of_value(line, value);
  }
  return shown.append(line.substr(done));
}

} // namespace

bool looks_secret(std::string_view name)
{
  constexpr std::array<std::string_view, 9> parts{"TOKEN",      "SECRET",  "PASSWORD",      "PASSWD", "PASSPHRASE",
                                                  "CREDENTIAL", "PRIVATE", "AUTHORIZATION", "COOKIE"};
  constexpr std::array<std::string_view, 6> words{"KEY", "APIKEY", "AUTH", "PASS", "PWD", "PAT"};
  const auto whole = upper(name);
  if (std::any_of(parts.begin(), parts.end(), [&](auto part) { return whole.find(part) != whole.npos; })) return true;
  const auto own = split(whole, '_');
  return std::any_of(own.begin(), own.end(),
                     [&](const auto& word) { return std::find(words.begin(), words.end(), word) != words.end(); });
}

std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables)
{
  for (auto& [name, value] : variables)
    if (looks_secret(name)) value = secret_mask;
  return variables;
}

std::string text_without_secrets(const FieldValue& value)
{
  const auto* variables = std::get_if<std::map<std::string, std::string>>(&value);
  return variables == nullptr ? to_text(value) : to_text(without_secrets(*variables));
}

RunSpec without_secrets(RunSpec spec)
{
  spec.resources.env = without_secrets(std::move(spec.resources.env));
  return spec;
}

std::string without_secrets(std::string_view recipe_text)
{
  std::vector<std::string> lines;
  for (const auto& line : split(recipe_text, '\n')) lines.push_back(masked_line(line));
  return join(lines, "\n");
}

} // namespace dt
