// SlurmApi: the calls to Slurm that dtctl needs, in plain structs. SlurmCommands (slurm_commands.hpp) implements it over the
// site's commands. What users wait for, submissions and the state of jobs, it gets many times quicker from a SlurmLibrary, where
// there is one: the module libdtctl_slurm (module.cpp) over libslurm. This header does not include Slurm's headers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// A call that Slurm refused or did not answer. `code` is Slurm's error number (slurm_errno.h); what() is Slurm's message.
class SlurmFailure : public std::runtime_error {
 public:
  SlurmFailure(int code, const std::string& words) : std::runtime_error(words), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// Slurm answered, but with something that cannot be read (SLURM_UNEXPECTED_MSG_ERROR): it is unknown what Slurm did.
inline constexpr int unreadable_answer = 1000;

// Configuration of the site.
struct SlurmSite {
  std::string version;                  // of the controller
  std::string cluster;                  // name
  std::int64_t max_array_size = 0;      // array indices are below this number
  std::int64_t max_array_tasks = 0;     // limit on the tasks of one array (SchedulerParameters); 0: only max_array_size limits
  std::int64_t max_jobs = 0;            // limit on the jobs of all users; every array task counts
  std::int64_t min_job_age_s = 0;       // how long ended jobs stay in the queue
  bool has_accounting = false;          // slurmdbd is in use
  std::string mpi_default;              // value of srun's --mpi if none is given: "none", "pmix"
  std::vector<std::string> mpi_plugins; // plugins of Slurm on this machine
  bool demands_account = false;         // refuses jobs whose user may not charge their account (AccountingStorageEnforce)
};

struct SlurmPartition {
  std::string name;
  std::int64_t nodes = 0, cpus = 0;
  std::int64_t max_time_s = 0;        // 0: no limit
  std::int64_t max_nodes_per_job = 0; // 0: no limit
  bool is_default = false;
  bool is_up = false;
};

struct SlurmNode {
  std::string name;
  std::string state;  // Slurm's words: "IDLE", "DOWN", "DRAINED", …
  std::string reason; // why the node is down or drained
  std::int64_t cpus = 0, memory_mib = 0;
  std::string partitions; // their names, with commas between
  bool is_usable = false; // idle, allocated or mixed, and not draining, failing, silent or in maintenance
};

// Nodes that are set aside for a time: maintenance, a course.
struct SlurmReservation {
  std::string name;
  std::string nodes; // "node[1-2]"
  std::int64_t start_unix_s = 0, end_unix_s = 0;
};

// A batch job to submit. Empty strings and zeros select the site's default.
struct SlurmJob {
  std::string name, comment, script; // script: the text of the script
  std::string script_path;           // the command that Slurm shows
  std::string work_dir, out_path;    // out_path: output and error are appended to it; in Slurm's language (slurm_output)
  std::map<std::string, std::string> environment;
  std::int64_t nodes = 1;
  std::int64_t tasks = 1, tasks_per_node = 1, cpus_per_task = 1;
  std::int64_t time_limit_min = 0;
  std::string partition, account, qos, constraint;
  std::string array;      // "0-99%8"; empty: a single job
  std::string dependency; // "afterany:12:13"
  bool requeue = false;
  int signal = 0;                  // signal sent to the batch script only
  std::int64_t signal_ahead_s = 0; // how long before the time limit the signal is sent
  std::int64_t gpus_per_node = 0;
  std::string require_nodes, exclude_nodes; // "node[1-2],node7"
  // The other scheduler_args, by name, with their values: "mem": "4G", "hold": "". Only sbatch reads them, so a job that has any
  // is submitted by it.
  std::map<std::string, std::string> passed_options;
  // What dtctl has to know of them:
  std::string user_dependency;                                // job_for combines it with dtctl's own dependency
  std::optional<std::int64_t> memory_mib, memory_per_cpu_mib; // memory_mib: per node; 0: all of it
  std::int64_t time_min_min = 0; // minutes; Slurm may reduce the time limit to this value to start the job earlier
};

// What Slurm's word for a job's state means to dtctl. The states up to `held` are those of a job that lives.
enum class JobPhase {
  pending,
  running,
  suspended,
  configuring, // its nodes are booting
  completing,  // its processes are being ended, or its epilog runs
  requeued,    // it returns to the queue after its end
  held,        // it returned to the queue on hold (requeue_hold, special_exit)
  complete,
  cancelled,
  failed,
  timeout,
  node_fail,
  preempted,
  boot_fail,
  deadline,
  out_of_memory,
  unknown // a word that dtctl does not know
};
// The meaning of "RUNNING", "COMPLETING", …, as squeue prints them.
JobPhase phase_of(std::string_view state);

// A job in the queue or in the accounting. All waiting tasks of an array share one record.
struct SlurmRecord {
  std::uint32_t id = 0;
  std::uint32_t array_id = 0;       // 0: not part of an array
  std::vector<std::uint32_t> tasks; // array indices of this record; a single one if the task has started
  std::string name, comment;
  std::string state; // Slurm's word
  JobPhase phase = JobPhase::pending;
  std::string reason;         // Slurm's word: "Resources", "JobHeldAdmin"
  std::string reason_details; // further text from Slurm, if any
  std::string dependency;
  std::uint32_t exit_status = 0, derived_exit_status = 0; // wait statuses; the derived one is that of the worst step
  std::int64_t submit_unix_s = 0, start_unix_s = 0;       // start of a waiting job: estimated; 0: unknown
  std::int64_t suspended_s = 0; // total length of its earlier suspensions; of a suspended job it may be unknown: 0
  int restarts = 0;
  std::string nodes;
  std::string failed_node; // the node whose failure ended the job, where this version of Slurm says so
  std::string partition;
  std::int64_t time_limit_s = 0; // 0: none, or unknown
  std::string cancelled_by;      // user name; only from the accounting
};

// Selects jobs in the accounting: by `ids`, or, if an id is unknown, by `names` of this user's jobs since the given time.
struct PastQuery {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> names;
  std::int64_t since_unix_s = 0;
};

// Unless stated otherwise, each function sends one request to Slurm and throws SlurmFailure.
class SlurmApi {
 public:
  virtual ~SlurmApi() = default;
  // The machines of the controller, for people. Throws nothing.
  virtual std::string controller() const = 0;
  // Name of the cluster (ClusterName), in lower case.
  virtual std::string cluster() = 0;
  // Whether the site has job accounting (slurmdbd).
  virtual bool has_accounting() = 0;
  // Sends one request in the life of the object.
  virtual const SlurmSite& site() = 0;
  virtual std::vector<SlurmPartition> partitions() = 0;
  // All nodes, or those of a list such as "node[1-2]".
  virtual std::vector<SlurmNode> nodes(const std::string& list = {}) = 0;
  virtual std::vector<SlurmReservation> reservations() = 0;
  // Returns the accounts that this user may charge, by the accounting; the user's default account is the first.
  virtual std::vector<std::string> accounts() = 0;
  // Returns the new job's id; for an array, the id that all its tasks share.
  virtual std::uint32_t submit(const SlurmJob& job) = 0;
  // Returns all jobs of this user that the controller knows.
  virtual std::vector<SlurmRecord> load_jobs() = 0;
  // Returns ended jobs from the accounting; the controller may have forgotten them.
  virtual std::vector<SlurmRecord> load_past(const PastQuery& query) = 0;
  // Ends the waiting or running job "12", task "12_3" or tasks "12_[1-5,9]".
  virtual void kill(const std::string& id) = 0;
};

// The calls that libslurm does for SlurmCommands; they mean the same as there. The first two send no request.
class SlurmLibrary {
 public:
  virtual ~SlurmLibrary() = default;
  virtual std::string cluster() const = 0;
  virtual bool has_accounting() const = 0;
  // Of a job without passed_options.
  virtual std::uint32_t submit(const SlurmJob& job) = 0;
  // Fails at once if no controller listens; the library would try for nine seconds.
  virtual std::vector<SlurmRecord> load_jobs() = 0;
  virtual void kill(const std::string& id) = 0;
};

// The module exports this function as `dtctl_slurm_open`: it calls slurm_init and returns the library. slurm_init ends the
// process on a bad configuration, so call it only after a check (load.cpp).
using OpenSlurmLibrary = SlurmLibrary* (*)();
inline constexpr const char* open_slurm_symbol = "dtctl_slurm_open";
// Returns the release of Slurm whose headers the module was built with: "22.05".
using SlurmText = const char* (*)();
inline constexpr const char* slurm_release_symbol = "dtctl_slurm_release";
// Returns the digest of this header with which the module was built; that of another dtctl cannot be used.
inline constexpr const char* slurm_api_symbol = "dtctl_slurm_api";

} // namespace dt::jobs::slurm
