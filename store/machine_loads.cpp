// The eighth step: who else used the machines of a run.
#include "store/migrations.hpp"

namespace dt::store {
namespace {

constexpr std::string_view sql = R"sql(
-- Of a machine, while the steps of an attempt were measured (core/load_record.hpp). Shares lie between 0 and 1.
CREATE TABLE machine_loads (
  run_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  host TEXT NOT NULL,
  cores INTEGER NOT NULL,
  own_cores INTEGER NOT NULL,
  seconds REAL,
  load_begin REAL,
  load_end REAL,
  others_share REAL,
  steal_share REAL,
  elsewhere_share REAL,
  PRIMARY KEY (run_id, attempt, host),
  FOREIGN KEY (run_id, attempt) REFERENCES attempts (run_id, attempt) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
)sql";

} // namespace

Migration machine_loads() { return {8, "machine loads: who else used a run's machines", std::string(sql)}; }

} // namespace dt::store
