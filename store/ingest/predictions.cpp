// Takes the stored predictions into the table `predictions`.
#include "core/record/prediction_record.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/ingest.hpp"
#include "store/ingest/rows.hpp"

namespace dt::store {
namespace {

bool is_stored(Connection& connection, const PredictionRecord& prediction)
{
  auto known = connection.statement("SELECT 1 FROM predictions WHERE id = ? AND predicted_unix_s = ?");
  known.bind(prediction.id, prediction.predicted_unix_s);
  return known.next();
}

} // namespace

std::vector<std::string> ingest_predictions(Database& database, const Home& home)
{
  auto& impl = database.impl();
  std::vector<std::string> problems;
  std::vector<PredictionRecord> news;
  for (const auto& name : names_in(home.predictions())) {
    if (!name.ends_with(".json")) continue; // a file that is being written
    const auto prediction = read_prediction(home.predictions() / name);
    if (!prediction)
      problems.push_back((home.predictions() / name).string() + " is damaged or of another format; it was left out");
    else if (!is_stored(impl.connection, *prediction))
      news.push_back(*prediction);
  }
  if (!news.empty())
    impl.write([&](Connection& connection) {
      for (const auto& prediction : news) write_prediction_row(connection, prediction);
    });
  return problems;
}

} // namespace dt::store
