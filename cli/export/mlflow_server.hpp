// The tracking server of MLflow, by its REST API 2.0.
#pragma once

#include "cli/export/http.hpp"
#include "cli/output/cell.hpp"
#include "core/record/field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::cli {

// Limits of one call of runs/log-batch. The server counts metrics, parameters and tags together, and takes 1 MB at most.
inline constexpr std::size_t most_entities = 1000, most_params = 100, most_tags = 100;

// The longest texts that are sent, in bytes; longer ones are cut. MLflow limits them in characters. It took parameters of up to
// 500 characters until September 2023 and takes 6000 since (github.com/mlflow/mlflow/pull/9709).
inline constexpr std::size_t longest_param = 500, longest_tag = 5000, longest_run_name = 250, longest_experiment_name = 500;

// Returns the text, cut to at most `bytes` bytes without splitting a UTF-8 character. Invalid UTF-8 becomes \xNN.
std::string clipped(const std::string& text, std::size_t bytes);

// The metrics, parameters and tags that one call of runs/log-batch adds to a run. The server stores the tags after the metrics. A
// tag that holds the number of exported steps is therefore never larger than the number of steps that the server has stored.
struct Batch {
  Json metrics = Json::array();
  TextMap params, tags;
  void add_metric(std::string_view key, double value, std::int64_t timestamp_ms, std::int64_t step);
};

// A run as the server knows it.
struct MlflowRun {
  std::string id;
  TextMap tags, params;
  bool is_new = false;
};

// A server that answers with an error makes every function throw an environment error with the path, the HTTP status, the
// server's message and what to do.
class MlflowServer {
 public:
  // Takes the credentials from the variables that MLflow's own client reads: MLFLOW_TRACKING_USERNAME and
  // MLFLOW_TRACKING_PASSWORD, else MLFLOW_TRACKING_TOKEN.
  explicit MlflowServer(const std::string& url);
  const std::string& url() const { return http_.url(); }
  // The id of the experiment, which is made if there is none of this name.
  std::string experiment(const std::string& name);
  // The runs of the experiment whose tag has this value, the one that began last first. Deleted runs are not among them.
  std::vector<MlflowRun> runs_with_tag(const std::string& experiment_id, const std::string& tag, const std::string& value) const;
  MlflowRun create_run(const std::string& experiment_id, const std::string& name, std::int64_t start_ms,
                       const TextMap& tags) const;
  void log(const MlflowRun& run, const Batch& batch) const;
  // `end_ms` 0: the run has not ended.
  void update(const MlflowRun& run, const std::string& status, std::int64_t end_ms) const;

 private:
  Json call(const Request& request) const;
  Json post(const char* verb, const Json& body, bool repeatable) const;
  std::string find_experiment(const std::string& name) const;
  std::string create_experiment(const std::string& name) const;

  HttpClient http_;
  TextMap experiments_; // ids by name
};

} // namespace dt::cli
