#include "core/record/attempt/batch_token.hpp"

#include "core/number.hpp"

#include <fmt/format.h>

namespace dt {
namespace {

bool is_kind(char letter)
{
  return letter == static_cast<char>(BatchKind::single) || letter == static_cast<char>(BatchKind::array) ||
         letter == static_cast<char>(BatchKind::ladder);
}

} // namespace

std::string format_token(const BatchToken& token)
{
  return fmt::format("{}{}.{}", static_cast<char>(token.kind), token.batch, token.index);
}

std::optional<BatchToken> parse_token(std::string_view text)
{
  if (text.size() < batch_digits + 3 || text[batch_digits + 1] != '.' || !is_kind(text[0])) return std::nullopt;
  const auto batch = text.substr(1, batch_digits);
  if (batch.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  const auto index = number_of<std::uint32_t>(text.substr(batch_digits + 2));
  if (!index) return std::nullopt;
  return BatchToken{static_cast<BatchKind>(text[0]), std::string(batch), *index};
}

bool is_of_ladder(std::string_view token)
{
  const auto parsed = parse_token(token);
  return parsed && parsed->kind == BatchKind::ladder;
}

} // namespace dt
