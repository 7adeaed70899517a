#include "jobs/local/queue.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "jobs/machine/quick_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::jobs::local {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Parses "0000000017-2-<token>.json".
std::optional<QueueEntry> entry_of(const fs::path& path, const std::string& host)
{
  if (path.extension() != ".json") return std::nullopt;
  const auto parts = split(path.stem().string(), '-');
  if (parts.size() != 3) return std::nullopt;
  const auto number = number_of<std::int64_t>(parts[0]), cores = number_of<std::int64_t>(parts[1]);
  if (!number || !cores) return std::nullopt;
  return QueueEntry{*number, *cores, parts[2], host, path};
}

void sort_by_number(std::vector<QueueEntry>& entries)
{
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
}

// Environment values are bytes, but JSON requires UTF-8. Valid UTF-8 gets the prefix "="; other bytes are written in hexadecimal
// with the prefix "x".
std::string text_of_bytes(const std::string& bytes)
{
  if (is_valid_utf8(bytes)) return "=" + bytes;
  std::string text = "x";
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string bytes_of_text(const std::string& text)
{
  if (!text.starts_with('x')) return text.empty() ? text : text.substr(1);
  std::string bytes;
  for (std::size_t i = 1; i + 1 < text.size(); i += 2) bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string to_json(const Ticket& ticket)
{
  Json environment = Json::object();
  for (const auto& [name, value] : ticket.environment) environment[name] = text_of_bytes(value);
  return Json{{"schema", 1},
              {"name", ticket.name},
              {"token", ticket.token},
              {"attempt", text_of_bytes(ticket.attempt.string())},
              {"cores", ticket.cores},
              {"allowed_cores", ticket.allowed_cores},
              {"time_limit_s", ticket.time_limit_s},
              {"signal_ahead_s", ticket.signal_ahead_s},
              {"when_idle_s", ticket.when_idle_s},
              {"group", ticket.group},
              {"max_running", ticket.max_running},
              {"after", ticket.after},
              {"working_folder", text_of_bytes(ticket.working_folder.string())},
              {"environment", environment},
              {"surroundings", ticket.surroundings ? Json::parse(to_json(*ticket.surroundings)) : Json()}}
             .dump() +
         "\n";
}

Ticket ticket_of(const Json& json)
{
  Ticket ticket;
  ticket.name = json.at("name");
  ticket.token = json.at("token");
  ticket.attempt = bytes_of_text(json.at("attempt"));
  ticket.cores = json.at("cores");
  ticket.allowed_cores = json.at("allowed_cores").get<std::vector<int>>();
  ticket.time_limit_s = json.at("time_limit_s");
  ticket.signal_ahead_s = json.at("signal_ahead_s");
  ticket.when_idle_s = json.value("when_idle_s", std::int64_t{0});
  ticket.group = json.at("group");
  ticket.max_running = json.at("max_running");
  ticket.after = json.at("after").get<std::vector<std::int64_t>>();
  ticket.working_folder = bytes_of_text(json.at("working_folder"));
  for (const auto& [name, value] : json.at("environment").items()) ticket.environment[name] = bytes_of_text(value);
  if (const auto around = json.value("surroundings", Json()); around.is_object())
    ticket.surroundings = parse_surroundings(around.dump());
  return ticket;
}

// The attempt's folder in this home: the home may have been moved since the ticket was written.
fs::path in_home(const fs::path& attempt, const fs::path& root)
{
  const auto attempts = attempt.parent_path(), run = attempts.parent_path(), runs = run.parent_path();
  return root / runs.filename() / run.filename() / attempts.filename() / attempt.filename();
}

} // namespace

Queue::Queue(const Home& home) : root_(home.local_queue()), folder_(root_ / host_name()) {}

bool Queue::exists() const
{
  std::error_code error;
  return fs::is_directory(root_, error);
}

void Queue::make() { make_folders(folder_ / "queue"); }

std::int64_t Queue::reserve_numbers(std::size_t count)
{
  // After a power cut the counter may be too small, so the numbers in the queue are checked too.
  std::int64_t last = number_of<std::int64_t>(trim(read_file_if_exists(root_ / "last_id").value_or("0"))).value_or(0);
  if (const auto entries = list_all_hosts(); !entries.empty()) last = std::max(last, entries.back().number);
  write_file_quick(root_ / "last_id", std::to_string(last + static_cast<std::int64_t>(count)) + "\n");
  return last + 1;
}

void Queue::add(std::int64_t number, const Ticket& ticket)
{
  write_file_quick(folder_ / "queue" / fmt::format("{:010}-{}-{}.json", number, ticket.cores, ticket.token), to_json(ticket));
}

std::vector<QueueEntry> Queue::list_host(const fs::path& folder) const
{
  std::vector<QueueEntry> entries;
  for (const auto& name : names_in(folder / "queue"))
    if (auto entry = entry_of(folder / "queue" / name, folder.filename().string())) entries.push_back(std::move(*entry));
  sort_by_number(entries);
  return entries;
}

std::vector<QueueEntry> Queue::list_all_hosts() const
{
  std::vector<QueueEntry> entries;
  for (const auto& host : names_in(root_)) {
    if (!is_folder(root_ / host)) continue;
    auto some = list_host(root_ / host);
    std::move(some.begin(), some.end(), std::back_inserter(entries));
  }
  sort_by_number(entries);
  return entries;
}

std::optional<Ticket> Queue::read(const QueueEntry& entry) const
{
  try {
    const auto text = read_file_if_exists(entry.path);
    if (!text) return std::nullopt;
    auto ticket = ticket_of(Json::parse(*text));
    ticket.attempt = in_home(ticket.attempt, fs::absolute(home_root()));
    return ticket;
  } catch (const SystemError&) { // a disk error: the ticket may be intact
    throw;
  } catch (const std::exception&) { // torn by a power cut, or not a ticket
    return std::nullopt;
  }
}

void Queue::remove(const QueueEntry& entry) const
{
  std::error_code error;
  fs::remove_all(entry.path, error); // removes also a folder of that name, which would otherwise be found again and again
  if (error) throw system_error("remove " + entry.path.string(), error.value());
}

} // namespace dt::jobs::local
