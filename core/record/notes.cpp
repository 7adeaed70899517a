#include "core/record/notes.hpp"

#include "core/record/json_fields.hpp"
#include "core/spec/secrets.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace dt {
namespace {

Note note_of(const record::Json& json)
{
  Note note{.tags = json.at("tags").get<std::vector<std::string>>(),
            .text = without_secrets(std::string_view(json.at("text").get<std::string>())),
            .changed_unix_s = json.at("changed_unix_s").get<double>()};
  std::sort(note.tags.begin(), note.tags.end());
  note.tags.erase(std::unique(note.tags.begin(), note.tags.end()), note.tags.end());
  return note;
}

std::optional<Notes> parse_notes(std::string_view text)
{
  return record::parse_with<Notes>(text, [](const record::Json& json) {
    Notes notes;
    for (const auto& [id, note] : json.at("notes").items()) notes[id] = note_of(note);
    return notes;
  });
}

} // namespace

Notes read_notes(const Home& home)
{
  const auto text = read_file_if_exists(home.notes());
  if (!text) return {};
  auto notes = parse_notes(*text);
  if (!notes)
    throw DamagedNotes(record::refusal_of(home.notes(), *text) +
                       ". Mend it or move it away; without it studies and runs have no notes and "
                       "tags");
  return std::move(*notes);
}

void write_notes(const LockedHome& home, const Notes& notes)
{
  record::Json all = record::Json::object();
  for (const auto& [id, note] : notes)
    if (!note.is_empty()) all[id] = {{"tags", note.tags}, {"text", note.text}, {"changed_unix_s", note.changed_unix_s}};
  write_file_atomic(home.notes(), record::dump({{"schema", record::schema}, {"notes", all}}));
}

std::string stamp_of_notes(const Home& home)
{
  struct stat facts {};
  if (::stat(home.notes().c_str(), &facts) != 0) return {};
  std::string stamp;
  for (const auto part : {static_cast<std::int64_t>(facts.st_ino), static_cast<std::int64_t>(facts.st_size),
                          static_cast<std::int64_t>(facts.st_mtim.tv_sec), static_cast<std::int64_t>(facts.st_mtim.tv_nsec)})
    stamp += std::to_string(part) + " ";
  return stamp;
}

} // namespace dt
