#include "engine/data/packing/readers/extensions.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt::data {

std::optional<ImageFormat> format_of_extension(std::string_view extension)
{
  const auto lower = lower_case(extension);
  if (lower == ".jpg" || lower == ".jpeg") return ImageFormat::jpeg;
  if (lower == ".png") return ImageFormat::png;
  if (lower == ".webp") return ImageFormat::webp;
  return std::nullopt;
}

bool has_tar_name(std::string_view name)
{
  const auto lower = lower_case(name);
  return std::ranges::any_of(std::array{".tar", ".tar.gz", ".tgz"}, [&](const char* ending) { return lower.ends_with(ending); });
}

MemberName::MemberName(const std::string& path)
{
  const auto base = path.rfind('/') + 1; // 0 if there is no slash
  const auto dot = std::min(path.find('.', base), path.size());
  key = path.substr(0, dot);
  extension = lower_case(std::string_view(path).substr(dot));
}

std::optional<ImageFormat> MemberName::format() const
{
  const auto dot = extension.rfind('.');
  return dot == extension.npos ? std::nullopt : format_of_extension(std::string_view(extension).substr(dot));
}

} // namespace dt::data
