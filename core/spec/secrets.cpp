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

// Position after the quoted text that begins at `begin`, as YAML writes it: \" within double quotes, '' within single ones.
std::size_t end_of_quoted(std::string_view line, std::size_t begin)
{
  const char quote = line[begin];
  for (auto at = begin + 1; at < line.size(); ++at) {
    if (quote == '"' && line[at] == '\\') {
      ++at;
    } else if (line[at] == quote) {
      if (quote == '"' || at + 1 == line.size() || line[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return line.size();
}

// Position after the value that begins at `begin`, behind the mark `:` or `=`. In doubt, too much is a value: a value in a flow
// mapping ends at a comma or a brace, one of the shell at a blank, any other at a comment or the end of the line.
std::size_t end_of_value(std::string_view line, std::size_t begin, char mark, bool in_flow)
{
  if (line[begin] == '"' || line[begin] == '\'') return end_of_quoted(line, begin);
  const auto comment = std::min(line.find(" #", begin), line.size());
  const auto end = mark == '=' ? line.find_first_of(" \t\"'", begin) : in_flow ? line.find_first_of(",}", begin) : line.size();
  return begin + trim(line.substr(begin, std::min(comment, end) - begin)).size();
}

struct MaskedLine {
  std::string text;
  // Lines that are indented deeper than this belong to a secret value; npos: none do.
  std::size_t secret_indent = std::string_view::npos;
};

// Whether the name that begins at `name` is the key of a block mapping: nothing but its indentation, a dash or a quote is before
// it. Lines below that are indented deeper then belong to its value.
bool is_block_key(std::string_view line, std::size_t name)
{
  return line.substr(0, name).find_first_not_of(" \t-\"'") == line.npos;
}

MaskedLine masked_line(std::string_view line)
{
  MaskedLine masked;
  std::size_t done = 0;
  for (auto at = line.find_first_of(":="); at != line.npos; at = line.find_first_of(":=", at + 1)) {
    if (at < done) continue;
    auto name_end = at;
    if (name_end > 0 && (line[name_end - 1] == '"' || line[name_end - 1] == '\'')) --name_end; // a quoted key
    const auto name = begin_of_name(line, name_end);
    if (!looks_secret(line.substr(name, name_end - name))) continue;
    if (line[at] == ':' && is_block_key(line, name)) masked.secret_indent = std::min(line.find_first_not_of(" \t-"), line.size());
    const auto value = std::min(line.find_first_not_of(" \t", at + 1), line.size());
    if (value == line.size()) continue;
    masked.text.append(line.substr(done, value - done)).append(secret_mask);
    done = end_of_value(line, value, line[at], line.substr(0, name).find('{') != line.npos);
  }
  masked.text.append(line.substr(done));
  return masked;
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
  spec.program.parameters = without_secrets(std::move(spec.program.parameters));
  return spec;
}

std::string without_secrets(std::string_view recipe_text)
{
  std::vector<std::string> lines;
  auto secret_indent = std::string_view::npos;
  for (const auto& line : split(recipe_text, '\n')) {
    const auto indent = std::min(line.find_first_not_of(" \t"), line.size());
    if (secret_indent != std::string_view::npos && (indent > secret_indent || (indent == line.size() && !line.empty()))) {
      if (lines.back() != std::string(secret_indent + 2, ' ') + std::string(secret_mask))
        lines.push_back(std::string(secret_indent + 2, ' ') + std::string(secret_mask));
      continue;
    }
    auto masked = masked_line(line);
    if (!line.empty()) secret_indent = masked.secret_indent;
    lines.push_back(std::move(masked.text));
  }
  return join(lines, "\n");
}

} // namespace dt
