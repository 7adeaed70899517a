// SlurmApi: what dtctl asks of Slurm, in plain structs. The one implementation is the module libdtctl_slurm (module.cpp), which
// is loaded only when it is used (load.hpp); nothing here includes Slurm's headers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

// A call that Slurm refused or did not answer. `code` is Slurm's own error number (slurm_errno.h), what() its words.
class SlurmFailure : public std::runtime_error {
 public:
  SlurmFailure(int code, const std::string& words) : std::runtime_error(words), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// How the site is set up.
struct SlurmSite {
  std::string version;              // of the controller
  std::string cluster;              // name
  std::string controller;           // host:port
  std::int64_t max_array_size = 0;  // the greatest array index is one less
  std::int64_t max_array_tasks = 0; // most tasks of one array (SchedulerParameters); 0: max_array_size alone limits
  std::int64_t max_jobs = 0;        // most jobs of all users, array tasks counted
  std::int64_t min_job_age_s = 0;   // so long ended jobs are kept in the queue
  std::int64_t message_timeout_s = 0;
  std::int64_t kill_wait_s = 0;         // between SIGTERM and SIGKILL at the time limit
  bool has_accounting = false;          // slurmdbd
  std::string mpi_default;              // srun's --mpi when none is given: "none", "pmix"
  std::vector<std::string> mpi_plugins; // of this machine's Slurm
  std::string preempt_type;             // "preempt/none", "preempt/qos", …
};

struct SlurmPartition {
  std::string name;
  std::int64_t nodes = 0, cpus = 0;
  std::int64_t max_time_s = 0;        // 0: no limit
  std::int64_t max_nodes_per_job = 0; // 0: no limit
  bool is_default = false;
  bool is_up = false;
  std::string node_list;
};

struct SlurmNode {
  std::string name;
  std::string state;  // "IDLE", "DOWN", "DRAINED", …, in Slurm's words
  std::string reason; // why it is down or drained
  std::int64_t cpus = 0, memory_mib = 0;
  std::string features;
  bool is_usable = false; // neither down, drained, failing nor powered off for good
};

// A batch job to submit. Empty strings and zeros leave the site's default.
struct SlurmJob {
  std::string name, comment, script; // script: its text
  std::string script_path;           // what Slurm shows as the command
  std::string work_dir, out_path;    // standard output and error, appended to; %a is the array index
  std::map<std::string, std::string> environment;
  std::int64_t nodes = 1;
  std::int64_t tasks = 1, tasks_per_node = 1, cpus_per_task = 1;
  std::int64_t time_limit_min = 0;
  std::string partition, account, qos, constraint;
  std::string array;      // "0-99%8"; empty: a single job
  std::string dependency; // "afterany:12:13"
  bool requeue = false;
  int signal = 0;                  // sent to the batch script alone
  std::int64_t signal_ahead_s = 0; // so long before the time limit
  // From scheduler_args:
  std::string reservation, exclude_nodes, require_nodes, gres, licenses, mail_user, wckey, prefer, container;
  std::string gpus, gpus_per_node, gpus_per_socket, gpus_per_task; // "gres:gpu:2", as Slurm's tres_per_… fields hold them
  std::string user_dependency;                                     // job_for adds dtctl's own to it
  std::uint16_t mail_type = 0;            // Slurm's MAIL_JOB_ bits
  std::optional<std::int64_t> memory_mib; // a node; 0: all of its memory
  std::optional<std::int64_t> memory_per_cpu_mib;
  std::optional<std::int64_t> nice;
  std::int64_t begin_unix_s = 0, deadline_unix_s = 0;
  std::int64_t time_min_min = 0; // Slurm may lower the time limit as far as that, in minutes, to start the job earlier
  std::int64_t switches = 0, switches_wait_s = 0;
  std::uint16_t sockets_per_node = 0, cores_per_socket = 0, threads_per_core = 0, ntasks_per_core = 0;
  bool exclusive = false;
  bool hold = false;
};

// Slurm's base states, numbered as it does.
enum class BaseState : std::uint32_t {
  pending,
  running,
  suspended,
  complete,
  cancelled,
  failed,
  timeout,
  node_fail,
  preempted,
  boot_fail,
  deadline,
  out_of_memory
};

// Flags beside the base state that change what it means for us.
struct StateFlags {
  bool completing = false;  // its processes are being ended or its epilog runs
  bool configuring = false; // its nodes are being booted
  bool requeued = false;    // it goes back into the queue when it has completed
  bool held = false;        // put back into the queue on hold (requeue_hold, special_exit)
};

// A job as the queue or the accounting shows it. Tasks of an array that wait are one record together.
struct SlurmRecord {
  std::uint32_t id = 0;
  std::uint32_t array_id = 0;       // 0: not an array's
  std::vector<std::uint32_t> tasks; // array indices this record stands for; one when the task has started
  std::string name, comment;
  std::string state;            // in Slurm's words, flags included: "RUNNING COMPLETING"
  std::uint32_t base_state = 0; // a BaseState, or a number that we do not know
  StateFlags flags;
  std::string reason;         // Slurm's word: "Resources", "JobHeldAdmin"
  std::string reason_details; // its further words, where it has any
  std::string dependency;
  std::uint32_t exit_status = 0, derived_exit_status = 0;           // wait statuses; the latter of the worst step
  std::int64_t submit_unix_s = 0, start_unix_s = 0, end_unix_s = 0; // start: estimated while it waits; 0: not known
  std::int64_t suspend_unix_s = 0;                                  // last suspended or resumed; 0: never
  std::int64_t run_before_suspend_s = 0;                            // how long it had run until it was last suspended
  int restarts = 0;
  std::string nodes;
  std::string cancelled_by; // user name; accounting only
};

// Which jobs to look up in the accounting: those ids, or when an id is not known, those names of this user's since then.
struct PastQuery {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> names;
  std::int64_t since_unix_s = 0;
};

// Every call is one question to Slurm, save where it says otherwise, and throws SlurmFailure.
class SlurmApi {
 public:
  virtual ~SlurmApi() = default;
  // "host:port" of the controller(s), from the configuration; no question asked.
  virtual std::string controller() const = 0;
  // Whether the site keeps accounts of jobs (slurmdbd), from the configuration; no question asked.
  virtual bool has_accounting() const = 0;
  virtual SlurmSite site() = 0;
  virtual std::vector<SlurmPartition> partitions() = 0;
  virtual std::vector<SlurmNode> nodes() = 0;
  // The new job's id; of an array, the id that all its tasks share.
  virtual std::uint32_t submit(const SlurmJob& job) = 0;
  // All jobs of this user that the controller holds.
  virtual std::vector<SlurmRecord> load_jobs() = 0;
  // Ended jobs that the controller may have forgotten, from the accounting.
  virtual std::vector<SlurmRecord> load_past(const PastQuery& query) = 0;
  // Ends "12", "12_3" or "12_[1-5,9]", waiting or running.
  virtual void kill(const std::string& id) = 0;
  // Whether a controller answers; false at once when none listens.
  virtual bool ping() = 0;
};

// What the module exports as `dtctl_slurm_open`: the api, after slurm_init. Call it only where slurm_init is known to succeed.
using OpenSlurmApi = SlurmApi* (*)();
inline constexpr const char* open_slurm_api_symbol = "dtctl_slurm_open";

} // namespace dt::jobs::slurm
