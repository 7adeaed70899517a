#include "jobs/rank_start.hpp"

#include <string_view>

namespace dt::jobs {
namespace {

// Arguments: cores per rank, `own` or `share` (what to do if the mask is too small), then the program with its arguments.
// Exit code 126 means that another launch would fail the same way.
constexpr std::string_view bind_and_run = R"(threads=$1 policy=$2
shift 2
cores=()
while read -r name ranges; do
  [[ $name == Cpus_allowed_list: ]] || continue
  IFS=, read -ra ranges <<< "$ranges"
  for range in "${ranges[@]}"; do
    for ((core = ${range%-*}; core <= ${range#*-}; ++core)); do cores+=("$core"); done
  done
done < /proc/self/status
local_rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${SLURM_LOCALID:?no launcher has said which rank of its node this is}}
mine=("${cores[@]:local_rank * threads:threads}")
if ((${#mine[@]} == threads)); then
  list=$(IFS=,; printf %s "${mine[*]}")
  exec taskset --cpu-list "$list" "$@"
fi
[[ $policy == share ]] && exec "$@"
printf "dtctl: rank %d needs %d cores of its own, but the %d cores of the mask on this node are not enough for all ranks\n" \
  "${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}" "$threads" "${#cores[@]}" >&2
exit 126)";

} // namespace

std::vector<std::string> bound(const RunSpec& spec, const std::vector<std::string>& program)
{
  const auto& resources = spec.resources;
  std::vector<std::string> words{"bash",
                                 "-c",
                                 std::string(bind_and_run),
                                 "dtctl-bind",
                                 std::to_string(spec.cores_per_rank()),
                                 resources.oversubscribe ? "share" : "own"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::map<std::string, std::string> rank_environment(const RunSpec& spec)
{
  return {
      {"OMP_NUM_THREADS", std::to_string(spec.resources.threads_per_rank)},
      // The rank's affinity mask is the binding. If OpenMP bound threads too, libgomp would pin the main thread to one core
      // before main(), and with it every thread started later (prefetch, communication).
      {"OMP_PROC_BIND", "false"},
      {"OMP_DYNAMIC", "false"},
  };
}

} // namespace dt::jobs
