#include "core/record/attempt/claim.hpp"

#include "core/error.hpp"
#include "core/files/file_at.hpp"
#include "core/files/temporary_file.hpp"
#include "core/number.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dt {
namespace {

using Json = nlohmann::json;

bool carries_token(const std::filesystem::path& process, const std::string& token)
{
  std::optional<std::string> environment;
  try {
    environment = read_file_if_exists(process / "environ");
  } catch (const Error&) { // process of another user, or it has just ended
  }
  if (!environment) return false;
  const auto word = std::string(token_variable) + "=" + token;
  const auto at = environment->find(word);
  return at != std::string::npos && (at == 0 || (*environment)[at - 1] == '\0');
}

// Whether session `leader.pid` can only be the job's. The kernel reserves the number of a session as long as it has a process.
// After that, another process can get the number; it then has a different start time.
bool session_is_ours(const ProcessId& leader)
{
  const auto now = identify_process(leader.pid);
  return leader.pid > 1 && (!now || *now == leader);
}

// What older claims do not tell: there the name of the host stood for the place.
ProcessId older_identity(const std::string& host)
{
  return host == host_name() ? identify_process(::getpid()).value_or(ProcessId{}) : ProcessId{};
}

std::string this_boot() { return identify_process(::getpid()).value_or(ProcessId{}).boot_id; }

} // namespace

std::string to_json(const Owner& owner)
{
  return Json{{"schema", 1},
              {"pid", owner.process.pid},
              {"start_ticks", owner.process.start_ticks},
              {"boot_id", owner.process.boot_id},
              {"pid_namespace", owner.process.pid_namespace},
              {"machine_id", owner.process.machine_id},
              {"host", owner.host},
              {"token", owner.token},
              {"job_id", owner.job_id},
              {"restart", owner.restart},
              {"unix_s", owner.unix_s}}
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Owner own_identity(const std::string& token, const std::string& job_id, int restart)
{
  return {identify_process(::getpid()).value_or(ProcessId{}), host_name(), token, job_id, restart, now_unix_s()};
}

bool claim(const AttemptFolder& attempt, const Owner& owner) { return create_file_exclusive(attempt.owner(), to_json(owner)); }

bool claim_for_cancel(const AttemptFolder& attempt, const std::string& token)
{
  const auto text = to_json(Owner{{}, host_name(), token, {}, 0, now_unix_s()});
  return TemporaryFile(attempt.owner(), text, TemporaryFile::Synced::no, 0600)
      .link_to_target(); // thousands may be cancelled at once
}

std::optional<Owner> read_owner(const AttemptFolder& attempt)
{
  try {
    const auto text = read_file_if_exists(attempt.owner());
    if (!text) return std::nullopt;
    const auto json = Json::parse(*text);
    const std::string host = json.at("host");
    const auto here = json.contains("pid_namespace") ? ProcessId() : older_identity(host);
    return Owner{{json.at("pid"), json.at("start_ticks"), json.at("boot_id"), json.value("pid_namespace", here.pid_namespace),
                  json.value("machine_id", here.machine_id)},
                 host,
                 json.at("token"),
                 json.value("job_id", ""),
                 json.value("restart", 0),
                 json.at("unix_s")};
  } catch (const Json::exception&) {
    return Owner{{}, host_name(), {}, {}, 0, 0};
  } catch (const IrregularFile&) { // an irregular file there prevents every claim
    return Owner{{}, host_name(), {}, {}, 0, 0};
  }
}

OwnerState state_of(const AttemptFolder& attempt, const std::optional<Owner>& owner)
{
  if (!owner) return OwnerState::none;
  const auto& process = owner->process;
  if (process.pid <= 0) return OwnerState::dead;
  if (is_in_sight(process)) return is_alive(process) ? OwnerState::alive : OwnerState::dead;
  const auto claimed = changed_unix_s(attempt.owner());
  const auto last_sign_unix_s = std::fmax(std::isnan(claimed) ? owner->unix_s : claimed, changed_unix_s(attempt.heartbeat()));
  const auto self = identify_process(::getpid()).value_or(ProcessId{});
  const bool is_same_machine = !process.machine_id.empty() && process.machine_id == self.machine_id;
  // Machines that were copied have one machine id. Only one of them has signs of life from after the last start of this one.
  if (is_same_machine && process.boot_id != self.boot_id && last_sign_unix_s < boot_unix_s()) return OwnerState::dead;
  return now_unix_s() - last_sign_unix_s > silence_margin_s ? OwnerState::silent : OwnerState::out_of_sight;
}

std::vector<pid_t> processes_with_token(const std::string& token)
{
  std::vector<pid_t> found;
  for (const auto& name : names_in("/proc")) {
    const auto pid = number_of<pid_t>(name);
    if (pid && carries_token("/proc/" + name, token) && identify_process(*pid)) found.push_back(*pid);
  }
  return found;
}

std::vector<pid_t> processes_of_job(const Owner& owner)
{
  std::vector<pid_t> found;
  if (!is_in_sight(owner.process)) return found;
  if (!owner.token.empty()) found = processes_with_token(owner.token);
  if (session_is_ours(owner.process)) {
    const auto session = processes_of_session(owner.process.pid);
    found.insert(found.end(), session.begin(), session.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

double age_s(const Owner& owner)
{
  if (owner.process.boot_id != this_boot()) return 0;
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         static_cast<double>(owner.process.start_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace dt
