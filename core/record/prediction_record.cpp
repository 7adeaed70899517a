#include "core/record/prediction_record.hpp"

#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"

namespace dt {

std::string prediction_id(const PredictionRecord& prediction)
{
  Hasher hasher;
  hasher.update(prediction.study + '\0' + prediction.series + '\0' + std::to_string(prediction.nodes) + '\0' +
                std::to_string(prediction.ranks));
  return hasher.hex();
}

std::string to_json(const PredictionRecord& prediction) { return record::to_json(prediction, prediction_fields()); }

std::optional<PredictionRecord> read_prediction(const std::filesystem::path& file)
{
  return record::read(file, [](std::string_view text) { return record::parse(text, prediction_fields()); });
}

void write_prediction(const Home& home, const PredictionRecord& prediction)
{
  make_folders(home.predictions());
  write_file_atomic(home.predictions() / (prediction.id + ".json"), to_json(prediction));
}

} // namespace dt
