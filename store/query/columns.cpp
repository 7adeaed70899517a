#include "store/query/columns.hpp"

#include "core/error.hpp"
#include "core/record/fields.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/database/schema.hpp"

#include <array>
#include <span>

namespace dt::store {
namespace {

// A column that is no field of a record. If `type` is empty, `help` is the path of the recipe's key whose value it holds.
struct OwnColumn {
  std::string_view column, type, unit, help;
};

constexpr std::array own_study_columns{
    OwnColumn{"study", "TEXT", "", "name of the study"},
    OwnColumn{"study_key", "TEXT", "", "id of the study"},
    OwnColumn{"study_newest", "INTEGER", "", "1: no later study has the same name"},
};

constexpr std::array own_run_columns{
    OwnColumn{"study_submitted_unix_s", "REAL", "s", "when the study was submitted, since 1970"},
    OwnColumn{"study_tags", "TEXT", "", "tags of the study, with blanks between"},
    OwnColumn{"study_note", "TEXT", "", "note on the study"},
    OwnColumn{"newest", "INTEGER", "", "1: no later study contains the run"},
    OwnColumn{"name", "TEXT", "", "name of the run in the study"},
    OwnColumn{"label", "TEXT", "", "the values that the sweep varies, and the size"},
    OwnColumn{"series", "TEXT", "", "the label without the size"},
    OwnColumn{"position", "INTEGER", "", "place of the run in the study, from 0"},
    OwnColumn{
        "control", "INTEGER", "",
        "1: no point of the study: an A/A control of a ladder, a run that varies an assumed figure (study.sensitivity), or one "
        "that tries a setting (study.tune)"},
    OwnColumn{"run_id", "INTEGER", "", "joins the tables of the database; means nothing outside"},
    OwnColumn{"key", "TEXT", "", "key of the run: a hash of all that its figures depend on"},
    OwnColumn{"repeat", "INTEGER", "", "number of the repeat, from 0"},
    OwnColumn{"state", "TEXT", "", "queued, running, succeeded, failed, …"},
    OwnColumn{"cause", "TEXT", "", "why the run failed, in words"},
    OwnColumn{
        "cause_kind", "TEXT", "",
        "of what kind the cause is, as in cause.json (run-folder.md), held_back or ended_early; NULL: it ended otherwise, or the "
        "scheduler told the cause"},
    OwnColumn{"attempt", "INTEGER", "", "number of the current attempt, from 1"},
    OwnColumn{"model", "", "", "model.name"},
    OwnColumn{"data", "", "", "data.name"},
    OwnColumn{"strategy", "", "", "sync.strategy"},
    OwnColumn{"allreduce", "", "", "sync.allreduce"},
    OwnColumn{"optimizer", "", "", "optimizer.name"},
    OwnColumn{"learning_rate", "", "", "optimizer.learning_rate"},
    OwnColumn{"seed", "", "", "train.seed"},
    OwnColumn{"nodes", "", "", "resources.nodes"},
    OwnColumn{"ranks", "INTEGER", "ranks", "MPI ranks of the run"},
    OwnColumn{"workers", "INTEGER", "ranks", "ranks that train; the others serve parameters"},
    OwnColumn{"ranks_per_node", "", "", "resources.ranks_per_node"},
    OwnColumn{"threads", "", "", "resources.threads_per_rank"},
    OwnColumn{"cores", "INTEGER", "cores", "cores that the run takes: ranks times threads"},
    OwnColumn{"platform", "", "", "resources.platform"},
    OwnColumn{"global_batch", "INTEGER", "samples", "samples of all ranks per step"},
    OwnColumn{"batch_per_rank", "INTEGER", "samples", "samples of a worker per step"},
};

constexpr OwnColumn own_not_finite{not_finite_column, "TEXT", "",
                                   "figures of the row that are NaN or infinite, as JSON; `NULL`: none"};

constexpr std::array own_attempt_columns{
    own_not_finite,
    OwnColumn{"reached_target", "INTEGER", "", "1: the run reached its target accuracy, 0: it missed it; `NULL`: it has none"},
    OwnColumn{"submitted_unix_s", "REAL", "s", "when the current attempt was submitted, since 1970"},
    OwnColumn{"begin_unix_s", "REAL", "s", "when it began, since 1970"},
    OwnColumn{"end_unix_s", "REAL", "s", "when it ended, since 1970"},
    OwnColumn{"exit_code", "INTEGER", "", "exit code of its job"},
    OwnColumn{"job_id", "TEXT", "", "id of its job in the scheduler"},
    OwnColumn{"restarts", "INTEGER", "", "how often the scheduler has started the job again"},
    OwnColumn{"launches", "INTEGER", "", "how often the ranks were started"},
    OwnColumn{"preempted_step", "INTEGER", "steps", "last step before a preemption"},
    OwnColumn{"host", "TEXT", "", "host on which the job began"},
    OwnColumn{"evidence", "TEXT", "", "the lines of the job's output that show the cause"},
    OwnColumn{"engine_build", "TEXT", "", "build of dtengine; of another program files- and a hash of its files"},
    OwnColumn{"data_id", "TEXT", "", "hash of the data set"},
    OwnColumn{"recipe", "TEXT", "", "name of the recipe"},
    OwnColumn{"recipe_label", "TEXT", "", "the label that the recipe gives the run"},
    OwnColumn{"description", "TEXT", "", "description of the recipe"},
    OwnColumn{"tags", "TEXT", "", "tags of the run, with blanks between"},
    OwnColumn{"note", "TEXT", "", "note on the run"},
};

ColumnInfo info_of(std::string_view table, const Key& key, std::string column)
{
  return {std::string(table), std::move(column), sql_type_of(default_of(key)), key.unit, key.help};
}

// Collects the columns of one table or view.
class ColumnList {
 public:
  ColumnList(std::string_view table, std::vector<ColumnInfo>& all) : table_(table), all_(all) {}

  void add(std::span<const OwnColumn> columns)
  {
    for (const auto& own : columns) {
      if (!own.type.empty())
        all_.push_back({std::string(table_), std::string(own.column), own.type, own.unit, own.help});
      else
        all_.push_back(info_of(table_, key_at(own.help), std::string(own.column)));
    }
  }
  void add(const OwnColumn& column) { add(std::span(&column, 1)); }
  template<class Record> void add_fields(Fields<Record> fields)
  {
    for (const auto& field : fields)
      all_.push_back({std::string(table_), field.column(), sql_type_of(field), field.unit, field.help});
  }
  void add_keys()
  {
    for (const auto* key : column_keys())
      if (key->path != "name" && key->path != "description") all_.push_back(info_of(table_, *key, column_of(*key)));
  }

 private:
  static const Key& key_at(std::string_view path)
  {
    const auto* key = find_key(path);
    if (key == nullptr) throw Error(ErrorKind::internal, "there is no key " + std::string(path));
    return *key;
  }

  std::string_view table_;
  std::vector<ColumnInfo>& all_;
};

} // namespace

std::vector<ColumnInfo> describe_columns()
{
  std::vector<ColumnInfo> all;
  ColumnList runs("runs_flat", all);
  runs.add(own_study_columns);
  runs.add(own_run_columns);
  runs.add_fields(result_fields());
  runs.add(own_attempt_columns);
  runs.add_keys();
  ColumnList scaling("scaling", all);
  scaling.add(own_study_columns);
  scaling.add(OwnColumn{"kind", "TEXT", "", "kind of the study: single, sweep, strong, weak, partition or scaling"});
  scaling.add_fields(scaling_fields());
  const OwnColumn attempt_keys[]{{"run_id", "INTEGER", "", "joins the tables of the database; means nothing outside"},
                                 {"attempt", "INTEGER", "", "number of the attempt, from 1"}};
  ColumnList steps("steps", all), evals("evals", all);
  steps.add(attempt_keys);
  steps.add_fields(step_event_fields());
  steps.add(own_not_finite);
  evals.add(attempt_keys);
  evals.add_fields(eval_event_fields());
  evals.add(own_not_finite);
  return all;
}

} // namespace dt::store
