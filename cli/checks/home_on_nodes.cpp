#include "cli/checks/home_on_nodes.hpp"

#include "cli/command/interrupt.hpp"
#include "core/files/file.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "store/database/file_system.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

constexpr double patience_s = 30; // longest wait for a free node
constexpr double late_file_s = 5; // how late a shared file system may show a new file
constexpr double look_every_s = 0.5;

// The folder in the home that holds a scheduler's batches.
fs::path folder_of(const Home& home, std::string_view scheduler) { return fs::absolute(home.root()) / scheduler; }

store::FileSystem file_system_of(const Home& home)
{
  auto folder = fs::absolute(home.root());
  while (!fs::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return store::file_system_at(folder);
}

// Only a node creates the log of a batch.
bool has_log_of_node(const fs::path& folder)
{
  const auto has_log = [&](const std::string& batch) {
    if (!is_folder(folder / batch)) return false;
    const auto names = names_in(folder / batch);
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("log"); });
  };
  const auto batches = names_in(folder);
  return std::any_of(batches.begin(), batches.end(), has_log);
}

// How the job has ended. Nothing if it did not start in time; it is cancelled then.
std::optional<jobs::TrialState> await_end(jobs::Site& site, const std::string& id, const jobs::TrialJob& job)
{
  using State = jobs::JobStatus::State;
  const Interrupt interrupt;
  for (const double begin = now_unix_s(); interrupt.signal() == 0; interrupt.sleep_s(look_every_s)) {
    auto now = site.look(id, job);
    if (now.status.state == State::ended || now.status.state == State::not_found) return now;
    if (now.status.state == State::queued && now_unix_s() - begin > patience_s) break;
  }
  site.end(id);
  if (interrupt.signal() != 0) interrupt.obey();
  return std::nullopt;
}

std::string output_of(const fs::path& log)
{
  for (const double begin = now_unix_s();;) {
    const auto text = std::string(trim(read_file_if_exists(log).value_or("")));
    if (!text.empty() || now_unix_s() - begin > late_file_s) return text;
    Interrupt().sleep_s(look_every_s);
  }
}

Finding probe(const fs::path& folder, const std::string& where, jobs::Site& site)
{
  make_folders(folder);
  std::error_code none;
  fs::remove(folder / "log", none);
  const jobs::TrialJob job{.folder = folder, .work_dir = "/", .script = "#!/bin/bash\nhostname\n", .command = "hostname"};
  const auto id = site.submit(job);
  const auto end = await_end(site, id, job);
  if (!end)
    return {"home on nodes", Level::warn,
            fmt::format("{}; whether the nodes see it is unknown, because {} did not start a job within {}", where, site.title(),
                        format_duration(patience_s)),
            "try again when a node is free"};
  if (end->status.outcome) return {"home on nodes", Level::warn, fmt::format("{}; a job {}", where, end->status.cause), ""};
  const auto host = output_of(folder / "log");
  if (!host.empty()) return {"home on nodes", Level::ok, fmt::format("{}; {} can write it", where, printable(host)), ""};
  return {"home on nodes", Level::warn,
          fmt::format("{}; job {} ended on {}, but its output is not in {}: the node has another folder at this path", where, id,
                      end->nodes.empty() ? "a node" : end->nodes, folder.string()),
          fmt::format("set DTCTL_HOME to a folder that all nodes share; until then runs on {} fail", site.title())};
}

} // namespace

std::optional<std::string> doubt_of_home_on_nodes(const Home& home)
{
  const auto system = file_system_of(home);
  if (system.shared) return std::nullopt;
  for (const auto& row : scheduler_rows())
    if (!row.uses_this_machine && has_log_of_node(folder_of(home, row.name.name))) return std::nullopt;
  return fmt::format(
      "the home {} is on {}, which may be on this machine only, and no node has written to it yet; if the nodes do "
      "not see it, every run fails. To check it: dtctl doctor",
      printable(home.root().string()), system.name);
}

Finding check_home_on_nodes(const Home& home, const std::string& scheduler, jobs::Site& site)
{
  const auto system = file_system_of(home);
  const auto where = fmt::format("{} is on {}", printable(home.root().string()), system.name);
  if (system.shared) return {"home on nodes", Level::ok, where + ", which machines share", ""};
  try {
    return probe(folder_of(home, scheduler) / "doctor", where, site);
  } catch (const jobs::TrialRefusal& refusal) {
    return {"home on nodes", Level::warn,
            fmt::format("{}; whether the nodes see it is unknown, because {} refuses a job: {}", where, site.title(),
                        refusal.words()),
            "try a profile with partition and account: dtctl doctor --launchers --profile NAME"};
  } catch (const Error& error) {
    return {"home on nodes", Level::warn, error.what(), ""};
  }
}

} // namespace dt::cli
