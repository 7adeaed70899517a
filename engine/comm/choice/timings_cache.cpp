#include "engine/comm/choice/timings_cache.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/choice/paired_rounds.hpp"
#include "engine/comm/choice/time_allreduces.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/placement.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::comm {
namespace {

constexpr int more_sums = 4; // further sums when the first one does not confirm

// Cache key: hash of MPI library, wire format, algorithms, and each rank's host, cores and topology.
std::string key_of(const AllreduceOptions& options, Communicator& comm)
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  check_mpi(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  std::string text = fmt::format("{}\n{}\n{}\n", library.data(), name_of(options.wire), join(registered_allreduces(), " "));
  const auto places = gather_places(comm);
  for (std::size_t r = 0; r < places.size(); ++r)
    text += fmt::format("{} {} {} {}\n", places[r].host, mask_text(places[r].cores), options.topology.node[r],
                        options.topology.supernode[r]);
  return hash_hex(text);
}

std::filesystem::path file_of(const std::filesystem::path& cache, const std::string& key) { return cache / ("allreduce-" + key); }

// On rank 0. An unreadable cache counts as empty.
std::string read_cache(const AllreduceOptions& options, const std::string& key)
{
  if (options.cache.empty()) return {};
  try {
    return read_file_if_exists(file_of(options.cache, key)).value_or("");
  } catch (const Error&) {
    return {};
  }
}

// On rank 0. Ignores write errors: without a cache the next run only spends a few seconds on new timings.
void write_cache(const AllreduceOptions& options, const std::string& key, const AllreduceTimings& timings)
{
  if (options.cache.empty()) return;
  try {
    make_folders(options.cache);
    write_file_atomic(file_of(options.cache, key), to_text(timings, key));
  } catch (const Error&) {
    return;
  }
}

// The cached timings, if they can be used. Makes no sum. Collective.
std::optional<AllreduceTimings> kept_timings(const AllreduceOptions& options, const std::string& key, Communicator& comm)
{
  auto kept = parse_timings(comm.broadcast_text(comm.is_root() ? read_cache(options, key) : ""), key);
  if (!kept || !could_be_timed(kept->algorithms, options, comm)) return std::nullopt;
  kept->shape = cost_shape(options.topology);
  const bool reaches = 2 * kept->bytes.back() >= sizes_to_time(options.largest_bytes).back();
  return reaches ? kept : std::nullopt;
}

// The slowest rank's seconds, on every rank. Collective.
double fresh_sum_s(Allreduce& allreduce, const std::string& name, std::span<float> values, const AllreduceOptions& options,
                   Communicator& comm)
{
  double seconds = time_sum(allreduce, name, values, 1, options, comm);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.handle()), "MPI_Allreduce");
  return seconds;
}

// Times one sum after a short warm-up sum, and more sums if the first one does not confirm. Collective.
double confirming_s(const ConfirmingSum& sum, const std::string& name, const AllreduceOptions& options, Communicator& comm)
{
  const auto traffic = comm.traffic();
  const auto allreduce = make_allreduce(with_algorithm(options, name), comm);
  Floats values(std::max<std::size_t>(sum.bytes / sizeof(float), 1));
  allreduce->sum(std::span(values).first(1));
  std::vector<double> seconds{fresh_sum_s(*allreduce, name, values, options, comm)};
  for (int more = 0; more < more_sums && !is_confirmed(sum, seconds.front()); ++more)
    seconds.push_back(fresh_sum_s(*allreduce, name, values, options, comm));
  comm.traffic() = traffic;
  return median(seconds);
}

std::string mbyte_per_s(double bytes_per_s) { return fmt::format("{:.3g} MB/s", 1e-6 * bytes_per_s); }

} // namespace

KnownTimings kept_or_fresh_timings(const AllreduceOptions& options, Communicator& comm)
{
  std::string origin = "timed at this start";
  if (options.cache.empty()) return {time_allreduces(options, comm), origin};
  const auto key = key_of(options, comm);
  if (const auto kept = kept_timings(options, key, comm)) {
    const auto sum = confirming_sum(*kept, choose(*kept));
    const auto& name = kept->algorithms[sum.algorithm];
    if (comm.size() == 1) return {*kept, "of an earlier run"};
    const double fresh_s = confirming_s(sum, name, options, comm);
    const double kept_rate = kept->model.link_bytes_per_s();
    const auto words =
        fmt::format("a sum of {} by {} took {}, {} when they were timed (links of {}, {} then)",
                    format_bytes(static_cast<double>(sum.bytes)), name, format_seconds(fresh_s), format_seconds(sum.seconds),
                    mbyte_per_s(kept_rate * sum.seconds / fresh_s), mbyte_per_s(kept_rate));
    if (is_confirmed(sum, fresh_s)) return {*kept, "of an earlier run, confirmed: " + words};
    origin += ", since those of an earlier run do not hold: " + words;
  }
  auto timings = time_allreduces(options, comm);
  if (comm.is_root()) write_cache(options, key, timings);
  return {std::move(timings), origin};
}

} // namespace dt::comm
