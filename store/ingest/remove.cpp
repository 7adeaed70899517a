// Removes studies and runs from the database after their folders were removed.
#include "store/database/sqlite.hpp"
#include "store/ingest/ingest.hpp"

namespace dt::store {

void remove_study(Database& database, const std::string& study_id, std::span<const std::string> run_keys)
{
  database.impl().write([&](Connection& connection) {
    connection.statement("DELETE FROM studies WHERE key = ?").run(study_id); // also deletes its run list
    auto remove_run =
        connection.statement("DELETE FROM runs WHERE key = ? AND NOT EXISTS (SELECT 1 FROM study_runs WHERE run_id = runs.id)");
    for (const auto& key : run_keys) remove_run.run(key);
    connection.execute(
        "DELETE FROM runs WHERE coalesce(fingerprint, '') = '' AND NOT EXISTS (SELECT 1 FROM study_runs WHERE run_id = runs.id)");
  });
}

} // namespace dt::store
