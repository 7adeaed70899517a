// Whose files dtctl executes. The rule follows git's safe.directory: a file or folder is trusted if it belongs to the user or to
// root, as does a link that leads to it, and nobody else can write it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace dt {

// Explains how another user could run commands as this one through a file that dtctl takes commands from. Empty if nobody can;
// nothing if the file does not exist.
std::optional<std::string> objection_to_file(const std::filesystem::path& file);

// Throws an environment error, which says what to do, if the home belongs to another user, also where that is root and nobody
// else may write. A home that does not exist yet is accepted.
void require_own_root(const std::filesystem::path& root);

// The same for one file or folder inside a home, before it is executed, if others can write it, too. One that cannot be looked at
// is accepted: its use will say why.
void require_own(const std::filesystem::path& path);

} // namespace dt
