// Checks of the keys of `sync` against the rest of a run. Pure functions.
#include "recipes/checks/checks.hpp"

#include "core/spec/names.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/spec/strategy_table.hpp"

namespace dt::recipes {
namespace {

using Problems = std::vector<Problem>;

// Why other strategies do not read a key, if that is worth saying.
std::string_view reason_of(std::string_view key)
{
  return key == "sync.wire" ? "; others send weights, which would lose precision permanently" : "";
}

// A key without effect is probably a misunderstanding, so it is refused.
void check_scopes(const RunSpec& spec, Problems& problems)
{
  for (const auto& key : spec_keys()) {
    if (!key.path.starts_with("sync.") || reads(spec.sync.strategy, key.path)) continue;
    const auto value = value_of(spec, key);
    if (value == default_of(key)) continue;
    problems.push_back({{key.path, "sync.strategy"},
                        "`" + std::string(key.path) + "` is " + dt::to_text(value) + ", but `" + spec.sync.strategy +
                            "` does not use it; it is for " + readers_of(key.path) + std::string(reason_of(key.path))});
  }
}

void check_optimizer(const RunSpec& spec, Problems& problems)
{
  // The rule of a program's workers is its own. Its servers have that of the strategy, whatever the default of the key.
  const bool updates_on_servers = strategy_row(spec.sync.strategy).updates_on_servers();
  const bool has_own_rule = spec.is_own_program() && (!updates_on_servers || spec.optimizer.name == OptimizerSpec{}.name);
  if (auto misfit = has_own_rule ? std::nullopt : optimizer_misfit(spec.sync.strategy, spec.optimizer.name))
    problems.push_back({{"optimizer.name", "sync.strategy"},
                        std::move(*misfit),
                        "a sweep gives each strategy its own optimizer with `zip: { sync.strategy: [sync-sgd, async-msgd], "
                        "optimizer.name: [sgd, momentum] }`"});
}

// With server-side updates, each server sees only its part of the gradient, and hogwild's threads do not wait for each other. So
// nobody knows the norm of the whole gradient.
void check_clipping(const RunSpec& spec, Problems& problems)
{
  if (spec.optimizer.clip_norm == 0 || !strategy_row(spec.sync.strategy).updates_on_servers()) return;
  problems.push_back({{"optimizer.clip_norm", "sync.strategy"},
                      "`optimizer.clip_norm` needs the whole gradient in one update, but with `" + spec.sync.strategy +
                          "` every parameter server applies the part of it that it holds; leave it out, or take a strategy whose "
                          "workers apply their gradients themselves"});
}

// Whether the study has runs with more than one worker: those with one are then not measured.
bool has_larger_size(const StudySpec& study) { return study.ranks.size() + study.nodes.size() + study.parts.size() > 1; }

// Whether all ranks sum gradients in every step.
bool sums_in_every_step(const SyncSpec& sync)
{
  return strategy_row(sync.strategy).keeps_equal && !(reads(sync.strategy, "sync.node_period") && sync.node_period > 1);
}

// The gradient noise scale compares gradients over small batches with their mean, which a step must have both.
void check_noise_scale(const RunSpec& spec, Problems& problems)
{
  if (spec.train.noise_scale == 0) return;
  const auto& sync = spec.sync;
  if (spec.is_own_program() && !spec.program.sync) {
    problems.push_back(
        {{"train.noise_scale", "program.command"},
         "`train.noise_scale` of a program of your own is measured by dtctl_sync, and the recipe has no block `sync`; "
         "add `sync.strategy` and train with dtctl_sync, or remove `train.noise_scale`"});
  } else if (!sums_in_every_step(sync)) {
    const bool is_spaced = strategy_row(sync.strategy).keeps_equal;
    problems.push_back({{"train.noise_scale", "sync.node_period", "sync.strategy"},
                        "`train.noise_scale` needs a strategy that sums gradients over all ranks in every step, and `" +
                            sync.strategy + "`" + (is_spaced ? " with `sync.node_period` above 1" : "") +
                            " does not; take `sync-sgd`, or `hsgd` with `sync.node_period: 1`, or remove `train.noise_scale`"});
  } else if (spec.workers() == 1 && (spec.train.accumulation == 1 || spec.is_own_program()) && !has_larger_size(spec.study)) {
    problems.push_back({{"train.noise_scale", "train.accumulation", "study.ranks", "resources.ranks_per_node"},
                        std::string("`train.noise_scale` compares the gradients of at least two workers, and there is 1; give it "
                                    "more ranks, ") +
                            (spec.is_own_program() ? "" : "`train.accumulation` of at least 2, ") +
                            "or remove `train.noise_scale`"});
  }
}

// Synchronized batch norm sums over ranks during a pass. All ranks must be in the same pass with the same weights, and their
// compute threads must be allowed to communicate.
void check_batch_norm(const RunSpec& spec, Problems& problems)
{
  if (spec.model.batch_norm != BatchNormSamples::synchronized) return;
  const auto& sync = spec.sync;
  const bool is_spaced = strategy_row(sync.strategy).keeps_equal;
  if (!sums_in_every_step(sync))
    problems.push_back({{"model.batch_norm", "sync.node_period", "sync.strategy"},
                        "`model.batch_norm: synchronized` needs ranks with the same weights at every step, and `" +
                            sync.strategy + "`" + (is_spaced ? " with `sync.node_period` above 1" : "") +
                            " lets them differ; take `sync-sgd`, or `hsgd` with `sync.node_period: 1`"});
  else if (sync.progress == ProgressMode::thread)
    problems.push_back({{"model.batch_norm", "sync.progress"},
                        "`model.batch_norm: synchronized` communicates during a pass, but with `sync.progress: thread` only "
                        "the communication thread may communicate; take `sync.progress: none` or `poll`"});
}

void check_servers(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  const auto& row = strategy_row(sync.strategy);
  if (!row.has_servers) return;
  if (sync.servers == 0 && !row.is_lock_free)
    problems.push_back(
        {{"sync.servers", "sync.strategy"}, "`" + sync.strategy + "` needs a parameter server: `sync.servers` of at least 1"});
  if (sync.servers == 0 && row.is_lock_free && spec.resources.nodes > 1)
    problems.push_back({{"sync.servers", "resources.nodes"},
                        "`sync.servers` 0 keeps the weights in the memory that the ranks of one node share, but there are " +
                            std::to_string(spec.resources.nodes) + " nodes; give `sync.servers` of at least 1"});
  if (spec.workers() <= 0)
    problems.push_back({{"sync.servers", "study.ranks", "study.nodes", "resources.ranks_per_node", "resources.nodes"},
                        "`" + sync.strategy + "` with " + std::to_string(sync.servers) +
                            " parameter servers (`sync.servers`) needs at least " + std::to_string(sync.servers + 1) +
                            " ranks, and there are " + std::to_string(spec.ranks())});
}

// The largest elastic rate of the run.
double elastic_rate(const RunSpec& spec)
{
  const auto& optimizer = spec.optimizer;
  const double scale = optimizer.linear_scaling ? static_cast<double>(spec.workers()) : 1;
  return spec.sync.rho > 0 ? optimizer.learning_rate * scale * spec.sync.rho : spec.sync.alpha;
}

void check_elastic_rate(const RunSpec& spec, Problems& problems)
{
  if (!is_elastic(spec.sync.strategy)) return;
  if (spec.sync.alpha > 0 && spec.sync.rho > 0)
    problems.push_back({{"sync.alpha", "sync.rho"}, "give either `sync.alpha` or `sync.rho`: alpha = learning rate x rho"});
  constexpr double slack = 1e-9;
  const double together = elastic_rate(spec) * static_cast<double>(spec.workers());
  if (together > 1 + slack)
    problems.push_back({{spec.sync.rho > 0 ? "sync.rho" : "sync.alpha", "study.ranks", "study.nodes", "resources.ranks_per_node"},
                        "the elastic rates of " + std::to_string(spec.workers()) + " workers sum to " +
                            dt::to_text(FieldValue(together)) +
                            "; above 1 the training diverges. Lower `sync.alpha` or `sync.rho`"});
}

void check_outer(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  const auto& outer = sync.outer;
  if (!strategy_row(sync.strategy).has_outer_rule) return;
  const auto period = "`sync.period` is " + std::to_string(sync.period);
  if (outer.fragments > sync.period)
    problems.push_back(
        {{"sync.outer.fragments", "sync.period"},
         "`sync.outer.fragments` is " + std::to_string(outer.fragments) + ", but " + period +
             ", and each fragment needs a step of the period for itself; take at most as many fragments as steps"});
  if (outer.delay >= sync.period)
    problems.push_back(
        {{"sync.outer.delay", "sync.period"},
         "`sync.outer.delay` is " + std::to_string(outer.delay) + ", but " + period +
             ": the sum of a fragment would not be used before its next one begins; take a delay below the period"});
  if (outer.delay == 0 && sync.progress != ProgressMode::none)
    problems.push_back({{"sync.progress", "sync.outer.delay"},
                        "`sync.progress: " + std::string(name_of(sync.progress)) +
                            "` has nothing to advance: without `sync.outer.delay` the workers of `" + sync.strategy +
                            "` wait for each sum; leave `sync.progress` out, or give a delay of at least 1"});
}

void check_overlap(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  if (exchanges_beside_computation(sync) && sync.elastic == ElasticForm::after)
    problems.push_back({{"sync.elastic", "sync.overlap"},
                        "`sync.elastic: after` needs the weights after the step, which `sync.overlap: 3` has sent before; take "
                        "`sync.overlap: 2`, or `sync.elastic: before`"});
}

// Rounding to 8 or 4 bits suits the sum of many steps, whose error the next sums do not repeat.
void check_coded(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  if (!is_coded(sync.wire) || !reads(sync.strategy, "sync.wire")) return;
  const auto wire = "`sync.wire: " + std::string(name_of(sync.wire)) + "`";
  if (!strategy_row(sync.strategy).has_outer_rule)
    problems.push_back({{"sync.wire", "sync.strategy"},
                        wire + " is for the pseudo-gradients of diloco; `" + sync.strategy +
                            "` sends float32, or bfloat16 with `sync.wire: bfloat16`"});
  else if (sync.allreduce != SyncSpec{}.allreduce)
    problems.push_back(
        {{"sync.allreduce", "sync.wire"},
         wire + " has a sum of its own, so `sync.allreduce: " + sync.allreduce + "` has no effect; leave `sync.allreduce` out"});
}

void check_messages(const RunSpec& spec, Problems& problems)
{
  const auto& sync = spec.sync;
  if (is_coded(sync.wire)) return check_coded(spec, problems);
  if (!reads(sync.strategy, "sync.allreduce") || !is_library_call(sync.allreduce)) return;
  if (sync.wire != Wire::float32)
    problems.push_back({{"sync.wire", "sync.allreduce"},
                        "`sync.allreduce: " + sync.allreduce + "` sends float32 only; take another algorithm for `sync.wire: " +
                            std::string(name_of(sync.wire)) + "`"});
  if (sync.progress == ProgressMode::poll)
    problems.push_back({{"sync.progress", "sync.allreduce"},
                        "`sync.allreduce: " + sync.allreduce +
                            "` is one call that cannot be moved on step by step; take another algorithm for "
                            "`sync.progress: poll`, or `sync.progress: thread`"});
}

void check_evaluated(const RunSpec& spec, Problems& problems)
{
  if (spec.sync.evaluate == EvaluatedModel::centre && !strategy_row(spec.sync.strategy).has_centre())
    problems.push_back({{"sync.evaluate", "sync.strategy"},
                        "`sync.evaluate: centre` needs a strategy with a centre, and `" + spec.sync.strategy + "` has none"});
}

// dtengine has MPI only, and ranks that MPI has not started have none.
void check_transport(const RunSpec& spec, Problems& problems)
{
  const auto transport = spec.sync.transport;
  if (transport == SyncTransport::automatic) return;
  const auto word = "`sync.transport: " + std::string(name_of(transport)) + "`";
  if (!spec.is_own_program())
    problems.push_back({{"sync.transport"}, word + " is for a program under dtctl_sync (`program.command`); remove it"});
  else if (transport == SyncTransport::mpi && spec.has_own_launcher())
    problems.push_back(
        {{"sync.transport", "program.launch"},
         word + " needs ranks that MPI starts, and with `program.launch: per-node` the program's launcher does; remove one"});
  else if (transport == SyncTransport::mpi && spec.resources.launcher == "dtjob")
    problems.push_back(
        {{"sync.transport", "resources.launcher"},
         word + " needs ranks that MPI starts, and `resources.launcher` is dtjob; take mpirun, or remove `sync.transport`"});
}

} // namespace

void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems)
{
  check_scopes(spec, problems);
  check_servers(spec, problems);
  if (spec.workers() <= 0) return;
  check_optimizer(spec, problems);
  check_clipping(spec, problems);
  check_batch_norm(spec, problems);
  check_noise_scale(spec, problems);
  check_elastic_rate(spec, problems);
  check_outer(spec, problems);
  check_overlap(spec, problems);
  check_messages(spec, problems);
  check_transport(spec, problems);
  check_evaluated(spec, problems);
}

std::vector<Problem> find_sync_doubts(const RunSpec& spec)
{
  const auto& sync = spec.sync;
  if (!exchanges_beside_computation(sync) || spec.ranks() == 1) return {};
  const bool is_outer = strategy_row(sync.strategy).has_outer_rule;
  const std::string_view key = is_outer ? "sync.outer.delay" : "sync.overlap";
  const std::string setting = "`" + std::string(key) + ": " + std::to_string(is_outer ? sync.outer.delay : sync.overlap) + "`";
  if (sync.progress == ProgressMode::none)
    return {{{"sync.progress", key, "sync.strategy"},
             "`sync.progress: none` lets nothing overlap: " + setting + " exchanges after the computation" +
                 (is_outer ? "" : ", as `sync.overlap: 2` does") + "; leave `sync.progress` out, or take `poll` or `thread`"}};
  if (sync.progress == ProgressMode::automatic && is_library_call(sync.allreduce) && !is_coded(sync.wire))
    return {{{"sync.progress", "sync.allreduce", key, "sync.strategy"},
             setting + " overlaps with `sync.allreduce: " + sync.allreduce +
                 "` only where every rank has a core to spare, because " + sync.allreduce +
                 " cannot be "
                 "polled; take another allreduce, such as hierarchical, or `sync.progress: thread`, which asks for that core",
             "",
             {"sync.overlap", "sync.allreduce"}}};
  return {};
}

} // namespace dt::recipes
