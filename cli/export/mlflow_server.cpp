#include "cli/export/mlflow_server.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::string_view api = "/api/2.0/mlflow/";
constexpr std::string_view does_not_exist = "RESOURCE_DOES_NOT_EXIST", already_exists = "RESOURCE_ALREADY_EXISTS";

// The server refused a request.
class Refusal : public Error {
 public:
  Refusal(std::string code, const std::string& message) : Error(ErrorKind::environment, message), code_(std::move(code)) {}
  const std::string& code() const { return code_; } // MLflow's name of the error; empty if the answer holds none

 private:
  std::string code_;
};

std::string variable(const char* name)
{
  const char* value = std::getenv(name);
  const std::string text(value == nullptr ? "" : value);
  // A line feed would end the header that the text becomes a part of.
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    throw Error(ErrorKind::usage, std::string(name) + " holds a control character, such as a line feed at its end; set it again");
  return text;
}

Credentials credentials()
{
  return {variable("MLFLOW_TRACKING_USERNAME"), variable("MLFLOW_TRACKING_PASSWORD"), variable("MLFLOW_TRACKING_TOKEN")};
}

std::string member(const Json& json, const char* name)
{
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

const char* advice(int status, const std::string& code)
{
  if (status == 401 || status == 403)
    return "set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, to credentials that may write "
           "there";
  if (status >= 300 && status < 400) return "the server sends requests elsewhere; give --to the address to which it redirects";
  if (status == 404 && code.empty()) return "is the URL of --to that of an MLflow tracking server?";
  if (status == 429 || status >= 500)
    return "look into the server's log, and export again later; what has been sent will not be sent again";
  return "if the message does not help, look into the server's log; dtctl needs MLflow 2.0 or later";
}

Refusal refusal_of(const Request& request, const Answer& answer)
{
  constexpr std::size_t longest_message = 500;
  const auto json = Json::parse(answer.body, nullptr, false);
  const auto code = member(json, "error_code"), message = clipped(member(json, "message"), longest_message);
  std::string said;
  for (const auto& part : {code, message})
    if (!part.empty()) said += ": " + printable(part);
  return Refusal(code, fmt::format("the MLflow server refused {} {} with HTTP status {}{}; {}", request.method,
                                   printable(request.path), answer.status, said, advice(answer.status, code)));
}

Json pairs(const TextMap& texts)
{
  auto list = Json::array();
  for (const auto& [key, value] : texts) list.push_back({{"key", key}, {"value", value}});
  return list;
}

TextMap texts_of(const Json& run, const char* what)
{
  TextMap texts;
  for (const auto& pair : run.value("data", Json::object()).value(what, Json::array()))
    texts[member(pair, "key")] = member(pair, "value");
  return texts;
}

MlflowRun run_of(const Json& json)
{
  return {member(json.value("info", Json::object()), "run_id"), texts_of(json, "tags"), texts_of(json, "params"), false};
}

} // namespace

std::string clipped(const std::string& text, std::size_t bytes)
{
  auto clip = is_valid_utf8(text) ? text : printable(text);
  if (clip.size() <= bytes) return clip;
  // Bytes 10xxxxxx continue a character.
  while (bytes > 0 && (static_cast<unsigned char>(clip[bytes]) & 0xC0) == 0x80) --bytes;
  clip.resize(bytes);
  return clip;
}

void Batch::add_metric(std::string_view key, double value, std::int64_t timestamp_ms, std::int64_t step)
{
  metrics.push_back({{"key", key}, {"value", value}, {"timestamp", timestamp_ms}, {"step", step}});
}

MlflowServer::MlflowServer(const std::string& url) : http_(checked_url(url), credentials()) {}

Json MlflowServer::call(const Request& request) const
{
  const auto answer = http_.send(request);
  if (answer.status < 200 || answer.status >= 300) throw refusal_of(request, answer);
  auto json = Json::parse(answer.body, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::environment, fmt::format("{} {}{} was not answered with JSON; is that an MLflow tracking server?",
                                                    request.method, url(), printable(request.path)));
  return json;
}

Json MlflowServer::post(const char* verb, const Json& body, bool repeatable) const
{
  return call({.method = "POST",
               .path = std::string(api) + verb,
               .body = body.dump(-1, ' ', false, Json::error_handler_t::replace),
               .repeatable = repeatable});
}

// Empty if there is none.
std::string MlflowServer::find_experiment(const std::string& name) const
{
  try {
    const auto path = std::string(api) + "experiments/get-by-name?experiment_name=" + percent_encoded(name);
    const auto found = call({.method = "GET", .path = path, .repeatable = true}).value("experiment", Json::object());
    if (member(found, "lifecycle_stage") == "deleted")
      throw Error(ErrorKind::environment, "the experiment " + printable(name) +
                                              " is deleted on the MLflow server; restore it there, or delete it for good");
    return member(found, "experiment_id");
  } catch (const Refusal& refusal) {
    if (refusal.code() != does_not_exist) throw;
    return {};
  }
}

// Somebody else may make it at the same time.
std::string MlflowServer::create_experiment(const std::string& name) const
{
  try {
    return member(post("experiments/create", {{"name", name}}, false), "experiment_id");
  } catch (const Refusal& refusal) {
    if (refusal.code() != already_exists) throw;
    return find_experiment(name);
  }
}

std::string MlflowServer::experiment(const std::string& name)
{
  const auto known = clipped(name, longest_experiment_name);
  auto& id = experiments_[known];
  if (id.empty()) id = find_experiment(known);
  if (id.empty()) id = create_experiment(known);
  if (id.empty()) throw Error(ErrorKind::environment, "the MLflow server gave the experiment " + printable(known) + " no id");
  return id;
}

std::vector<MlflowRun> MlflowServer::runs_with_tag(const std::string& experiment_id, const std::string& tag,
                                                   const std::string& value) const
{
  const Json body{{"experiment_ids", {experiment_id}},
                  {"filter", "tags.`" + tag + "` = '" + value + "'"},
                  {"run_view_type", "ACTIVE_ONLY"},
                  {"max_results", 100},
                  {"order_by", {"attribute.start_time DESC"}}};
  std::vector<MlflowRun> runs;
  for (const auto& run : post("runs/search", body, true).value("runs", Json::array())) runs.push_back(run_of(run));
  return runs;
}

MlflowRun MlflowServer::create_run(const std::string& experiment_id, const std::string& name, std::int64_t start_ms,
                                   const TextMap& tags) const
{
  const Json body{{"experiment_id", experiment_id},
                  {"run_name", clipped(name, longest_run_name)},
                  {"start_time", start_ms},
                  {"tags", pairs(tags)}};
  auto run = run_of(post("runs/create", body, false).value("run", Json::object()));
  if (run.id.empty()) throw Error(ErrorKind::environment, "the MLflow server gave a new run no id");
  run.is_new = true;
  return run;
}

void MlflowServer::log(const MlflowRun& run, const Batch& batch) const
{
  const Json body{{"run_id", run.id}, {"metrics", batch.metrics}, {"params", pairs(batch.params)}, {"tags", pairs(batch.tags)}};
  post("runs/log-batch", body, batch.metrics.empty()); // metrics are appended, all else replaces itself
}

void MlflowServer::update(const MlflowRun& run, const std::string& status, std::int64_t end_ms) const
{
  Json body{{"run_id", run.id}, {"status", status}};
  if (end_ms > 0) body["end_time"] = end_ms;
  post("runs/update", body, true);
}

} // namespace dt::cli
