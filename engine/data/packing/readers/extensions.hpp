// What the names of files and of tar members say: the one rule for extensions, in which upper and lower case are the same.
#pragma once

#include "engine/data/images/decoder.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dt::data {

// The format of files with this extension (".jpg", ".JPEG", ".png", ".webp"); nothing for others.
std::optional<ImageFormat> format_of_extension(std::string_view extension);

// Whether the name is that of a tar file that can be read: .tar, .tar.gz or .tgz.
bool has_tar_name(std::string_view name);

// The name of a tar member, taken apart as WebDataset does: the key is the name up to the first dot behind the last slash, and
// the rest is the extension. "a.b/0001.SEG.png" has the key "a.b/0001" and the extension ".seg.png".
struct MemberName {
  std::string key, extension; // the extension in lower case, with its dot; empty: there is none
  explicit MemberName(const std::string& path);
  // Whether the file's name begins with a dot. It has no key then.
  bool is_hidden() const { return key.empty() || key.ends_with('/'); }
  // The format that the last part of the extension names: that of a PNG for ".seg.png".
  std::optional<ImageFormat> format() const;
};

} // namespace dt::data
