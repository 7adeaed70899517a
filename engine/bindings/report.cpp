#include "engine/bindings/report.hpp"

#include "core/files/descriptor.hpp"
#include "core/hash.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "engine/comm/machine/library.hpp"
#include "engine/sync/exchange/gradient_noise.hpp"
#include "engine/sync/vector.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::bindings {
namespace {

// One write, so that lines of the program's own reports stay whole. A full disk must not end the training.
void append(const std::string& text)
{
  const char* path = std::getenv("DTCTL_REPORT");
  if (path == nullptr || *path == '\0' || text.empty()) return;
  const Descriptor file(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file.is_open()) [[maybe_unused]]
    const auto written = ::write(file.get(), text.data(), text.size());
}

std::string word(double figure) { return std::isnan(figure) ? "-" : fmt::format("{}", figure); }

} // namespace

std::int64_t steps_between_meetings(const SyncSpec& sync)
{
  if (strategy_row(sync.strategy).is_asynchronous) return 0;
  return reads(sync.strategy, "sync.node_period") ? sync.node_period : reads(sync.strategy, "sync.period") ? sync.period : 1;
}

void report_begin(const sync::Roles& roles, std::int64_t between_meetings)
{
  append(fmt::format("sync {} {}\n", roles.is_server ? "server" : "worker", between_meetings));
}

void report_end(sync::Strategy& strategy, sync::Replica& replica, comm::Communicator& comm, const comm::Traffic& before)
{
  const auto now = comm.traffic();
  std::string text = fmt::format("traffic {} {}\n", now.bytes - before.bytes, now.messages - before.messages);
  std::map<std::int32_t, std::int64_t> updates;
  for (const auto age : strategy.staleness()) ++updates[age];
  for (const auto& [age, count] : updates) text += fmt::format("staleness {} {}\n", age, count);
  const auto* device = replica.device();
  const bool sums_on_device = device != nullptr && device->can_sum();
  const double isolated_s = strategy.isolated_communication_s(replica);
  if (comm.is_root()) {
    for (const auto& bucket : strategy.buckets())
      text += fmt::format("bucket {} {} {}\n", bucket.bytes, bucket.ready_s, bucket.lead_s);
    const auto noise = strategy.noise() != nullptr ? strategy.noise()->noise_scale() : NoiseScale();
    if (!std::isnan(noise.value) || !std::isnan(noise.low))
      text += fmt::format("noise {} {} {}\n", word(noise.value), word(noise.low), word(noise.high));
    if (!std::isnan(isolated_s)) text += fmt::format("isolated {}\n", isolated_s);
    for (const auto& [name, words] : strategy.facts()) text += fmt::format("choice {}\t{}\n", printable(name), printable(words));
    if (!comm::has_mpi()) text += "choice transport\tTCP connections, without MPI\n";
    if (sums_on_device) text += fmt::format("choice {}\ton the devices, by the program\n", device_sums_fact);
    text += fmt::format("weights {}\n", hash_hex(replica.weights()));
  }
  append(text);
}

} // namespace dt::bindings
