#include "core/program/program_files.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "/./";

Error files_refusal(const std::string& what) { return {ErrorKind::recipe, "program.files: " + what}; }

bool is_executable(const fs::path& path) { return (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none; }

// Hidden files (.git) and what Python writes beside its sources are no part of a program.
bool is_left_out(const fs::path& path)
{
  const auto name = path.filename().string();
  return name.starts_with('.') || name == "__pycache__";
}

// A folder of which nothing is copied: a program may write into it, and git keeps it by a hidden file.
bool is_bare_folder(const ProgramFile& file) { return file.name.ends_with('/'); }

// Walks through the folders of a program. Symbolic links are followed, because a copy needs what they lead to.
class Walk {
 public:
  // `everything`: also what is_left_out.
  Walk(bool everything, std::vector<ProgramFile>& files) : everything_(everything), files_(files) {}

  // Adds the regular files in the folder and below, or the folder itself if there are none. `prefix`: the folder's name in the
  // copy, with "/" at its end.
  void add_folder(const fs::path& folder, const std::string& prefix)
  {
    const auto before = files_.size();
    open_.push_back(fs::canonical(folder));
    for (const auto& entry : fs::directory_iterator(folder))
      if (everything_ || !is_left_out(entry.path())) add(entry, prefix + entry.path().filename().string());
    open_.pop_back();
    if (files_.size() == before && !prefix.empty()) files_.push_back({prefix, folder, false});
  }

 private:
  void add(const fs::directory_entry& entry, const std::string& name)
  {
    const auto& path = entry.path();
    std::error_code broken;
    const auto kind = entry.status(broken).type(); // of what a link leads to
    if (kind == fs::file_type::not_found)
      throw files_refusal(fmt::format("the symbolic link {} leads to {}, which does not exist; mend or remove the link",
                                      shown(path), shown(fs::read_symlink(path))));
    if (broken) throw files_refusal(shown(path) + " cannot be read: " + broken.message());
    if (kind == fs::file_type::regular) files_.push_back({name, path, is_executable(path)});
    if (kind != fs::file_type::directory) return;
    if (entry.is_symlink()) require_no_loop(path);
    add_folder(path, name + "/");
  }

  // Only a link can lead back to a folder that is being walked through.
  void require_no_loop(const fs::path& link) const
  {
    const auto target = fs::canonical(link);
    if (std::find(open_.begin(), open_.end(), target) != open_.end())
      throw files_refusal(
          fmt::format("the symbolic link {} leads back to {}, the folder that contains it, so a copy would have no end; "
                      "remove the link, or name the files in program.files one by one",
                      shown(link), shown(target)));
  }

  static std::string shown(const fs::path& path) { return printable(path.lexically_normal().string()); }

  bool everything_;
  std::vector<ProgramFile>& files_;
  std::vector<fs::path> open_; // the folders from the first to the one that is read now, without links in their paths
};

void add_entry(const std::string& entry, std::vector<ProgramFile>& files)
{
  const auto name = name_in_copy(entry);
  const fs::path path(entry);
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  const auto shown = path.lexically_normal().string();
  if (name.empty() || name == ".." || name.starts_with("../"))
    throw files_refusal(printable(shown) + " lies outside of the recipe's folder; name files and folders in it or below it");
  if (kind == fs::file_type::not_found) throw files_refusal("there is no file or folder " + printable(shown));
  if (error) throw files_refusal(printable(shown) + " cannot be read: " + error.message());
  if (kind == fs::file_type::directory)
    Walk(false, files).add_folder(path, name == "." ? "" : name + "/");
  else if (kind == fs::file_type::regular)
    files.push_back({name, path, is_executable(path)});
  else
    throw files_refusal(printable(shown) + " is neither a file nor a folder");
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
    throw files_refusal(error.what());
  }
}

void require_size(const std::vector<ProgramFile>& files)
{
  std::uintmax_t bytes = 0;
  std::error_code unknown;
  for (const auto& file : files) {
    const auto size = is_bare_folder(file) ? 0 : fs::file_size(file.path, unknown);
    if (!unknown) bytes += size;
  }
  if (bytes > largest_program_bytes)
    throw files_refusal(fmt::format(
        "{} in {} files are too much, because every attempt of a run gets a copy of them (at most {}); name "
        "only the program's own files. Its data set belongs in data.path",
        format_bytes(static_cast<double>(bytes)), files.size(), format_bytes(static_cast<double>(largest_program_bytes))));
}

std::string id_of_files(const std::vector<ProgramFile>& files)
{
  require_size(files);
  Hasher hasher;
  for (const auto& file : files) {
    const auto bytes = is_bare_folder(file) ? "" : bytes_of(file.path);
    hasher.update(file.name + '\0' + (file.is_executable ? 'x' : '-') + std::to_string(bytes.size()) + '\0');
    hasher.update(bytes);
  }
  return "files-" + hasher.hex();
}

constexpr std::string_view command_mark = "-command-";

std::string id_of_command(const fs::path& path)
{
  Hasher hasher;
  hasher.update(bytes_of(path));
  return std::string(command_mark) + hasher.hex();
}

// Whether the program that the command starts is a file of this machine which the run will execute as it is here, and part of its
// identity. A wrapper may be a container, in which the same path is another file.
bool is_command_known(const RunSpec& run)
{
  const fs::path first = run.program.command.empty() ? "" : run.program.command.front();
  std::error_code unknown;
  return run.program.identity == ProgramIdentity::environment && first.is_absolute() && !run.is_wrapped() &&
         fs::is_regular_file(first, unknown);
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

// A new folder on the same file system. No other process has it, not even one with the same id on another host of the home.
fs::path new_folder_beside(const fs::path& folder)
{
  make_folders(folder.parent_path());
  auto pattern = (folder.parent_path() / ".new.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw system_error("make a folder in " + folder.parent_path().string(), errno);
  return pattern;
}

// The folder must exist.
void copy_file_to(const ProgramFile& file, const fs::path& folder)
{
  const auto target = folder / file.name;
  auto parent = folder;
  for (const auto& part : fs::path(file.name).parent_path()) make_folder(parent /= part);
  if (is_bare_folder(file)) return;
  std::error_code error;
  fs::copy_file(file.path, target, error);
  if (error) throw system_error("copy " + file.path.string() + " to " + target.string(), error.value());
  fs::permissions(target, file.is_executable ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
}

template<class Add> std::vector<ProgramFile> collected(Add add)
{
  std::vector<ProgramFile> files;
  try {
    add(files);
  } catch (const fs::filesystem_error& error) {
    throw files_refusal(error.path1().string() + " cannot be read: " + error.code().message());
  }
  return in_order(std::move(files));
}

std::vector<ProgramFile> files_of_copy(const fs::path& copy)
{
  return collected([&](auto& files) { Walk(true, files).add_folder(copy, ""); });
}

std::vector<ProgramFile> files_and_folders(const ProgramSpec& program)
{
  return collected([&](auto& files) {
    for (const auto& entry : program.files) add_entry(entry, files);
  });
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
  auto files = files_and_folders(program);
  std::erase_if(files, is_bare_folder);
  return files;
}

std::string program_id(const RunSpec& run)
{
  const auto id = id_of_files(files_and_folders(run.program));
  return is_command_known(run) ? id + id_of_command(run.program.command.front()) : id;
}

bool has_same_command(const RunSpec& run, std::string_view id)
{
  const auto at = id.find(command_mark);
  return at == id.npos || (is_command_known(run) && id_of_command(run.program.command.front()) == id.substr(at));
}

bool has_same_files(const fs::path& copy, std::string_view id)
{
  return id_of_files(files_of_copy(copy)) == id.substr(0, id.find(command_mark));
}

void keep_program(const ProgramSpec& program, const std::string& id, const fs::path& folder)
{
  const bool is_damaged = is_there(folder);
  if (is_damaged && has_same_files(folder, id)) return;
  const Temporary temporary{new_folder_beside(folder)};
  for (const auto& file : files_and_folders(program)) copy_file_to(file, temporary.path);
  if (!has_same_files(temporary.path, id))
    throw files_refusal(is_damaged
                            ? fmt::format("the copy in {} is damaged, and cannot be made again, because the files have changed "
                                          "since; submit the recipe again: it becomes a new run",
                                          folder.string())
                            : "a file was changed during the submission; submit again");
  const Temporary damaged{temporary.path.string() + ".damaged"};
  std::error_code error;
  if (is_damaged) fs::rename(folder, damaged.path, error); // fails if another submission has just done so
  fs::rename(temporary.path, folder, error);
  if (error && !(is_there(folder) && has_same_files(folder, id)))
    throw system_error("rename to " + folder.string(), error.value());
}

void copy_program(const fs::path& copy, const fs::path& target)
{
  make_folder(target);
  for (const auto& file : files_of_copy(copy)) copy_file_to(file, target);
}

fs::path copy_report_module(const fs::path& folder)
{
  constexpr const char* name = "dtctl_report.py";
  const auto from = report_modules() / name, to = folder / name;
  const auto content = read_file_if_exists(from);
  if (!content)
    throw Error(ErrorKind::environment,
                fmt::format("{} is not installed: it belongs into share/dtctl/program, beside dtctl's bin", name));
  const auto before = read_file_if_exists(to);
  if (before && *before != *content)
    throw Error(ErrorKind::usage,
                fmt::format("{} is there already, with other content; remove it to get the module of this dtctl", to.string()));
  if (!before) replace_file(to, *content);
  return to;
}

} // namespace dt
