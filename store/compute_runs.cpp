// The sixth step: the keys of the compute engine.
#include "store/migrations.hpp"

namespace dt::store {
namespace {

constexpr std::string_view columns = R"sql(
ALTER TABLE runs ADD COLUMN engine TEXT;
ALTER TABLE runs ADD COLUMN model_layers TEXT;
ALTER TABLE runs ADD COLUMN model_dropout INTEGER;
ALTER TABLE runs ADD COLUMN model_batch_norm TEXT;
ALTER TABLE runs ADD COLUMN train_precision TEXT;
ALTER TABLE runs ADD COLUMN train_winograd INTEGER;
ALTER TABLE runs ADD COLUMN train_accumulation INTEGER;
ALTER TABLE runs ADD COLUMN train_loss_scale REAL;
ALTER TABLE runs ADD COLUMN train_label_smoothing REAL;
ALTER TABLE runs ADD COLUMN train_start_from TEXT;
ALTER TABLE runs ADD COLUMN train_final_checkpoint INTEGER;
ALTER TABLE runs ADD COLUMN optimizer_decay_biases INTEGER;
ALTER TABLE runs ADD COLUMN optimizer_decay_norms INTEGER;
ALTER TABLE runs ADD COLUMN optimizer_clip_norm REAL;
ALTER TABLE runs ADD COLUMN optimizer_beta1 REAL;
ALTER TABLE runs ADD COLUMN optimizer_beta2 REAL;
ALTER TABLE runs ADD COLUMN optimizer_epsilon REAL;
)sql";

} // namespace

Migration compute_runs() { return {6, "compute engine: models, precision, optimizers", std::string(columns) + run_views()}; }

} // namespace dt::store
