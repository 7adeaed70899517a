// Takes <home>/notes.json into the tables `note_texts` and `note_tags`.
#include "core/record/notes.hpp"

#include "store/database/sqlite.hpp"
#include "store/ingest/ingest.hpp"

namespace dt::store {
namespace {

void write_rows(Connection& connection, const Notes& notes, const std::string& stamp)
{
  connection.execute("DELETE FROM note_tags");
  connection.execute("DELETE FROM note_texts");
  auto note_row = connection.statement("INSERT INTO note_texts (key, text, changed_unix_s) VALUES (?, ?, ?)");
  auto tag_row = connection.statement("INSERT INTO note_tags (key, tag) VALUES (?, ?)");
  for (const auto& [key, note] : notes) {
    if (!note.text.empty()) note_row.run(key, note.text, note.changed_unix_s);
    for (const auto& tag : note.tags) tag_row.run(key, tag);
  }
  connection.statement("UPDATE format SET notes_stamp = nullif(?, '')").run(stamp);
}

} // namespace

bool has_new_notes(Database& database, const Home& home)
{
  return database.impl().connection.text_of("SELECT coalesce(notes_stamp, '') FROM format") != stamp_of_notes(home);
}

void ingest_notes(Database& database, const Home& home)
{
  database.impl().write([&](Connection& connection) {
    const auto stamp = stamp_of_notes(home); // before the file is read: a later change makes another one
    write_rows(connection, read_notes(home), stamp);
  });
}

} // namespace dt::store
