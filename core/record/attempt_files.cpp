#include "core/record/attempt_files.hpp"

#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/record/fields.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

// Returns "json: unix_s, host, …".
template<class Record> std::string json(Fields<Record> fields, Presence presence = Presence::required)
{
  std::string names;
  for (const auto& field : fields)
    if (is_with(field.presence, presence)) names += (names.empty() ? "" : ", ") + std::string(field.name);
  return "json: " + names;
}

// The same for a record with a list: "json: …; a rank: rank, host, …".
template<class Record, class Part> std::string json(Fields<Record> fields, const std::string& part_name, Fields<Part> part_fields)
{
  return json(fields) + "; " + part_name + json(part_fields).substr(4);
}

using Rows = std::array<AttemptFileRow, attempt_file_count>;

Rows make_rows()
{
  using enum AttemptFile;
  constexpr std::string_view rank_0 = "rank 0", dtctl = "dtctl", job = "the job", dtjob = "dtjob";
  return {{
      {submission, "submission.json", "", json(submission_fields()) + ". Without `job_id`, it is only the intent", dtctl},
      {deferred, "deferred.json", "", json(deferral_fields()) + ": the scheduler has no room for the job yet",
       "dtctl; removed when the scheduler has accepted the job"},
      {script, "job.sh", "", "modules, variables and set-up lines, then the launch; its argument is the attempt's folder", dtctl},
      {out, "stdout", "", "what the job printed; it grows", job},
      {err, "stderr", "", "what the job printed on standard error; it grows", job},
      {owner, "owner.json", "",
       "json: the one process that may run the attempt: pid, start_ticks, boot_id, pid_namespace, machine_id, host, token, "
       "job_id, restart, unix_s",
       "dtjob, exclusively created"},
      {hosts, "hosts", "", "{ host LF }: the nodes of a ladder's run, for mpirun", "dtjob under Slurm"},
      {begin, "begin.json", "", json(begin_fields()), "rank 0, after MPI_Init, exclusively created"},
      {heartbeat, "heartbeat", "", "\"beat\" SP unix_s SP step SP steps LF", "rank 0, about once a second, replaced whole"},
      {events, "events.log", "", "a line per step and per evaluation (`events` above)", "rank 0, appended"},
      {error, "error.json", "", json(error_fields()), "the first rank that fails"},
      {result, "result.json", "",
       "json: the figures of `dtctl db columns`; a rank: its phases, traffic, memory. Or json: fenced_by, the attempt that takes "
       "this one's place",
       "rank 0, last, synced; or whoever makes the later attempt. Exclusively created"},
      {launches, "launches", "", "{ \"launch\" SP number SP unix_s SP code LF }: a line per launch of the ranks that has ended",
       dtjob},
      {earlier_begin, "begin.K.json", "", "begin.json of launch K, which died before the first step", "dtjob, renamed"},
      {probe, "probe.json", "", json(probe_fields(), "a rank", rank_probe_fields()), "rank 0, before the first step"},
      {algorithms, "algorithms.json", "",
       "json: algorithms, a text per convolution: its name and its algorithms forward, backward to the data and backward to the "
       "weights (core/spec/algorithms.hpp)",
       "rank 0, before the first step, if there are convolutions"},
      {load, "load.json", "", "json: unix_s; a machine" + json(node_load_fields()).substr(4) + ", over the measured steps",
       "rank 0, before the result; of an own program dtjob"},
      {energy, "energy.json", "",
       json(result_fields(), Presence::energy) + "; a node" + json(node_energy_fields()).substr(4) + "; a GPU" +
           json(gpu_energy_fields()).substr(4),
       "dtjob, after the result"},
      {compute_profile, "compute_profile.json", "",
       "json: of a program that was observed, the computation of a rank, from which `dtctl simulate` computes "
       "(core/spec/compute_profile.hpp)",
       "dtjob, before the result"},
      {preempted, "preempted.json", "", json(preemption_fields()) + ": the ranks were told to stop, and stopped",
       "rank 0; dtjob, if the ranks ended before they could write it"},
      {checkpoints, "checkpoints", "step-STEP.safetensors",
       "safetensors with a hash of all its bytes, whole or absent, the last two (engine/train/weights/checkpoint.hpp)", rank_0},
      {trace, "trace", "rank-RANK",
       "text: the rank's spans and its clock's offset to rank 0's (core/record/attempt/trace_record.hpp), if train.trace is on",
       "every rank, at the end"},
      {dump, "dump", "",
       "anything: a new file asks all ranks what they are doing. Of a rank: why SP \"rank\" SP rank SP unix_s LF",
       "anybody; a rank that got a signal; rank 0 in a stall"},
      {states, "states", "rank-RANK", json(rank_state_fields()), "every rank, within two seconds of `dump`"},
      {stall, "stall.json", "",
       json(stall_fields(), "a rank that is missing", missing_rank_fields()) + "; the states of the ranks that answered", rank_0},
      {requeue, "requeue", "", "unix_s LF: the scheduler is asked to start the job again", dtjob},
      {settled, "settled", "", "state SP unix_s LF: the scheduler holds the job no more, so `end` is final", dtctl},
      {end, "end", "", "\"exit\" SP code SP unix_s LF", "dtjob, however the job ended"},
      {cancel, "cancel", "", "unix_s SP who LF, or unix_s SP \"held back: \" why LF",
       "dtctl cancel; dtjob of another run of the study, for runs that it holds back"},
      {asked, "asked", "",
       "{ \"asked\" SP unix_s SP verb SP answer LF }: what a cluster's scheduler was asked about the job (cancel, requeue), and "
       "its answer: "
       "accepted, or why not",
       "dtctl; dtjob"},
      {stop_reason, "stop_reason", "",
       "\"time_limit\" [ SP seconds ] LF, also ahead of it, with a limit that was changed in the scheduler; \"not started: \" "
       "why LF; \"not run: \" why LF, if a run that had to come first has "
       "no result; or state \": \" cause LF, what Slurm said about the end "
       "(core/record/attempt/stop_reason.hpp)",
       "dtjob; the scheduler of this machine (\"not started\"); dtctl (what Slurm said)"},
      {cause, "cause.json", "",
       json(failure_cause_fields()) + ": why there is no result, as dtjob finds it in what the ranks and their launcher left",
       "dtjob, before `end`"},
      {reserve, "reserve", "", "32 KiB of nothing: room for error.json and end on a full disk", "rank 0; removed at the end"},
      {work, "work", "", "of an own program: the folder it runs in, with a copy of its files, and what it writes there",
       "dtjob; the program"},
      {anew, "anew", "",
       "nothing; it is there if an own program can only begin its training from nothing: no earlier attempt made a step, or "
       "DTCTL_KEEP_FOLDER is empty",
       "dtjob, before the ranks start"},
      {reports, "reports", "rank-RANK",
       "text: where a rank of an own program runs, then what it reports (jobs/program/reports/report_lines.hpp); load-RANK and "
       "energy-RANK (of dtengine, too): load and energy of a host where dtjob does not run",
       "dtjob on the rank's node; the program, appended"},
      {output, "output", "STREAM",
       "of an own program with program.metrics: what rank 0 prints (stdout, stderr), until dtjob has read it",
       "rank 0; removed at the end"},
      {master, "master", "", "host SP port LF: MASTER_ADDR and MASTER_PORT of an own program", "dtjob on rank 0's node"},
  }};
}

const Rows& rows()
{
  static const Rows rows = make_rows();
  return rows;
}

int number_in_name(std::string_view name)
{
  const int number = number_of<int>(name).value_or(0);
  return number > 0 && name == std::to_string(number) ? number : 0; // "01" is not an attempt
}

} // namespace

std::span<const AttemptFileRow> attempt_files() { return rows(); }

std::string_view name_of(AttemptFile file) { return rows()[static_cast<std::size_t>(file)].name; }

AttemptFolder::AttemptFolder(const std::filesystem::path& run_folder, int number)
    : path_(run_folder / "attempts" / std::to_string(number)), number_(number)
{
}

AttemptFolder::AttemptFolder(const std::filesystem::path& attempt_folder)
    : path_(attempt_folder), number_(number_in_name(attempt_folder.filename().native()))
{
}

std::optional<std::int64_t> checkpoint_step(std::string_view file_name)
{
  constexpr std::string_view before = "step-", after = ".safetensors";
  if (!file_name.starts_with(before) || !file_name.ends_with(after)) return std::nullopt;
  file_name.remove_prefix(before.size());
  file_name.remove_suffix(after.size());
  const auto step = number_of<std::int64_t>(file_name);
  return step && *step >= 0 ? step : std::nullopt;
}

std::vector<int> attempt_numbers(const std::filesystem::path& run_folder)
{
  std::vector<int> numbers;
  for (const auto& name : names_in(run_folder / "attempts"))
    if (const int number = number_in_name(name); number > 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::optional<std::filesystem::path> recorded_algorithms(const std::filesystem::path& run_folder, int last)
{
  auto numbers = attempt_numbers(run_folder);
  std::reverse(numbers.begin(), numbers.end());
  for (const int number : numbers)
    if (const auto file = AttemptFolder(run_folder, number).algorithms(); number <= last && is_there(file)) return file;
  return std::nullopt;
}

} // namespace dt
