#include "core/program/program_files.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "/./";

Error refusal(const std::string& what) { return {ErrorKind::recipe, "program.files: " + what}; }

bool is_executable(const fs::path& path) { return (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none; }

// Hidden files (.git) and what Python writes beside its sources are no part of a program.
bool is_left_out(const fs::path& path)
{
  const auto name = path.filename().string();
  return name.starts_with('.') || name == "__pycache__";
}

// Adds the regular files in a folder and below. `everything`: also those that is_left_out.
void add_folder(const fs::path& folder, const std::string& prefix, bool everything, std::vector<ProgramFile>& files)
{
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!everything && is_left_out(it->path()))
      it.disable_recursion_pending();
    else if (it->is_regular_file())
      files.push_back({prefix + it->path().lexically_relative(folder).string(), it->path(), is_executable(it->path())});
  }
  if (error) throw refusal("folder " + folder.string() + " cannot be read: " + error.message());
}

void add_entry(const std::string& entry, std::vector<ProgramFile>& files)
{
  const auto name = name_in_copy(entry);
  const fs::path path(entry);
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  const auto shown = path.lexically_normal().string();
  if (name.empty() || name == ".." || name.starts_with("../"))
    throw refusal(printable(shown) + " lies outside of the recipe's folder; name files and folders in it or below it");
  if (kind == fs::file_type::not_found) throw refusal("there is no file or folder " + printable(shown));
  if (error) throw refusal(printable(shown) + " cannot be read: " + error.message());
  if (kind == fs::file_type::directory)
    add_folder(path, name == "." ? "" : name + "/", false, files);
  else if (kind == fs::file_type::regular)
    files.push_back({name, path, is_executable(path)});
  else
    throw refusal(printable(shown) + " is neither a file nor a folder");
}

// Files that two entries name are there once.
std::vector<ProgramFile> in_order(std::vector<ProgramFile> files)
{
  const auto by_name = [](const ProgramFile& a, const ProgramFile& b) { return a.name < b.name; };
  std::stable_sort(files.begin(), files.end(), by_name);
  const auto same = [](const ProgramFile& a, const ProgramFile& b) { return a.name == b.name; };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

std::string bytes_of(const fs::path& path)
{
  try {
    return read_file(path);
  } catch (const Error& error) {
    throw refusal(error.what());
  }
}

void require_size(const std::vector<ProgramFile>& files)
{
  std::uintmax_t bytes = 0;
  std::error_code unknown;
  for (const auto& file : files) {
    const auto size = fs::file_size(file.path, unknown);
    if (!unknown) bytes += size;
  }
  if (bytes > largest_program_bytes)
    throw refusal(fmt::format(
        "{} in {} files are too much, because every attempt of a run gets a copy of them (at most {}); name "
        "only the program's own files. Its data set belongs in data.path",
        format_bytes(static_cast<double>(bytes)), files.size(), format_bytes(static_cast<double>(largest_program_bytes))));
}

std::string id_of(const ProgramSpec& program, const std::vector<ProgramFile>& files)
{
  require_size(files);
  Hasher hasher;
  for (const auto& file : files) {
    const auto bytes = bytes_of(file.path);
    hasher.update(file.name + '\0' + (file.is_executable ? 'x' : '-') + std::to_string(bytes.size()) + '\0');
    hasher.update(bytes);
  }
  const fs::path first = program.command.empty() ? "" : program.command.front();
  std::error_code unknown;
  if (first.is_absolute() && fs::is_regular_file(first, unknown)) hasher.update(std::string("command\0", 8) + bytes_of(first));
  return "files-" + hasher.hex();
}

// Removes the folder unless it was renamed.
struct Temporary {
  fs::path path;
  ~Temporary()
  {
    std::error_code none;
    fs::remove_all(path, none);
  }
};

void copy_file_to(const ProgramFile& file, const fs::path& folder)
{
  const auto target = folder / file.name;
  make_folders(target.parent_path());
  std::error_code error;
  fs::copy_file(file.path, target, error);
  if (error) throw system_error("copy " + file.path.string() + " to " + target.string(), error.value());
  fs::permissions(target, file.is_executable ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
}

} // namespace

std::string program_entry(const fs::path& folder, const std::string& text)
{
  auto name = fs::path(text).lexically_normal();
  const auto root = fs::absolute(folder / ".").lexically_normal();
  if (name.is_absolute()) name = name.lexically_relative(root);
  if (!name.has_filename()) name = name.parent_path(); // "net/"
  auto start = root.string();
  while (start.ends_with('/')) start.pop_back();
  return start + std::string(mark) + name.string();
}

std::string name_in_copy(const std::string& entry)
{
  const auto at = entry.find(mark);
  return at == std::string::npos ? fs::path(entry).filename().string() : entry.substr(at + mark.size());
}

std::vector<ProgramFile> program_files(const ProgramSpec& program)
{
  std::vector<ProgramFile> files;
  try {
    for (const auto& entry : program.files) add_entry(entry, files);
  } catch (const fs::filesystem_error& error) {
    throw refusal(error.path1().string() + " cannot be read: " + error.code().message());
  }
  return in_order(std::move(files));
}

std::string program_id(const ProgramSpec& program) { return id_of(program, program_files(program)); }

std::string program_id_of_copy(const ProgramSpec& program, const fs::path& folder)
{
  std::vector<ProgramFile> files;
  add_folder(folder, "", true, files);
  return id_of(program, in_order(std::move(files)));
}

void keep_program(const ProgramSpec& program, const std::string& id, const fs::path& folder)
{
  if (is_there(folder)) return;
  make_folders(folder.parent_path());
  const Temporary temporary{folder.parent_path() / fmt::format(".new.{}", ::getpid())};
  make_folders(temporary.path);
  for (const auto& file : program_files(program)) copy_file_to(file, temporary.path);
  if (program_id_of_copy(program, temporary.path) != id) throw refusal("a file was changed during the submission; submit again");
  std::error_code error;
  fs::rename(temporary.path, folder, error);
  if (error && !is_there(folder)) throw system_error("rename to " + folder.string(), error.value());
}

void copy_program(const fs::path& copy, const fs::path& target)
{
  make_folders(target);
  std::vector<ProgramFile> files;
  add_folder(copy, "", true, files);
  for (const auto& file : files) copy_file_to(file, target);
}

} // namespace dt
