// libdtctl_slurm: implements SlurmApi with libslurm. This is the only file that includes Slurm's headers. It is a separate
// module, because a program that links libslurm does not start on machines without Slurm.
//
// Ownership: libslurm's request structs borrow our strings and must never be freed with libslurm's functions; its answers must
// be.
#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/access/site_facts.hpp"
#include "jobs/slurm/access/watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <sys/mman.h>
#include <unistd.h>

// libslurm exports these functions, but none of its installed headers declares them.
extern "C" {
char* slurm_job_state_string(std::uint32_t state);
char* slurm_job_reason_string(int reason);
char* slurm_node_state_string(std::uint32_t state);
extern slurm_conf_t slurm_conf;
}

namespace dt::jobs::slurm {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

// For struct fields that libslurm borrows and does not change, although they are not declared const.
char* borrow(const std::string& text) { return text.empty() ? nullptr : const_cast<char*>(text.c_str()); }

[[noreturn]] void fail(int code) { throw SlurmFailure(code, slurm_strerror(code)); }

// Captures what libslurm writes to standard error during the object's lifetime, so that it becomes part of our error message.
class CapturedWords {
 public:
  CapturedWords()
      : file_(memfd_create("libslurm", MFD_CLOEXEC)), before_(file_ < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3))
  {
    if (before_ >= 0) dup2(file_, STDERR_FILENO);
  }
  CapturedWords(const CapturedWords&) = delete;
  CapturedWords& operator=(const CapturedWords&) = delete;
  ~CapturedWords()
  {
    if (before_ >= 0) dup2(before_, STDERR_FILENO);
    if (before_ >= 0) close(before_);
    if (file_ >= 0) close(file_);
  }
  // The last line, without the prefix "<program>: error: ".
  std::string last() const
  {
    std::array<char, 1024> buffer{};
    const auto size = file_ < 0 ? 0 : lseek(file_, 0, SEEK_END);
    const auto count = size <= 0 ? 0 : pread(file_, buffer.data(), buffer.size(), std::max<off_t>(size - 1024, 0));
    std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (text.ends_with('\n')) text.pop_back();
    text.erase(0, text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
    const auto mark = text.find("error: ");
    return mark == std::string::npos ? text : text.substr(mark + 7);
  }

 private:
  int file_, before_;
};

// Throws the failure with Slurm's general message and the details that it wrote.
[[noreturn]] void fail_with(int code, const CapturedWords& words)
{
  const auto particular = words.last();
  throw SlurmFailure(code, text_of(slurm_strerror(code)) + (particular.empty() ? "" : ": " + particular));
}

// Makes a call of libslurm that returns 0 or sets errno.
template<typename Call> void check(Call call)
{
  errno = 0;
  if (call() == SLURM_SUCCESS) return;
  fail(slurm_get_errno());
}

// Converts a limit from minutes to seconds; returns 0 for no limit.
std::int64_t limit_s(std::uint32_t minutes)
{
  return minutes == INFINITE || minutes == NO_VAL ? 0 : static_cast<std::int64_t>(minutes) * 60;
}

std::int64_t count_or_none(std::uint32_t value)
{
  return value == INFINITE || value == NO_VAL ? 0 : static_cast<std::int64_t>(value);
}

// ---- a job to submit --------------------------------------------------------------------------------------------------

void put_size(job_desc_msg_t& message, const SlurmJob& job)
{
  message.min_nodes = message.max_nodes = static_cast<std::uint32_t>(job.nodes);
  message.num_tasks = static_cast<std::uint32_t>(job.tasks);
  message.ntasks_per_node = static_cast<std::uint16_t>(job.tasks_per_node);
  message.cpus_per_task = static_cast<std::uint16_t>(job.cpus_per_task);
  message.min_cpus = static_cast<std::uint32_t>(job.tasks * job.cpus_per_task);
  message.bitflags |= JOB_NTASKS_SET | JOB_CPUS_SET;
  if (job.time_limit_min > 0) message.time_limit = static_cast<std::uint32_t>(job.time_limit_min);
  if (job.memory_mib) message.pn_min_memory = static_cast<std::uint64_t>(*job.memory_mib);
  if (job.memory_per_cpu_mib) message.pn_min_memory = static_cast<std::uint64_t>(*job.memory_per_cpu_mib) | MEM_PER_CPU;
  if (job.temporary_disk_mib > 0) message.pn_min_tmp_disk = static_cast<std::uint32_t>(job.temporary_disk_mib);
  if (job.least_cpus_per_node > 0) message.pn_min_cpus = job.least_cpus_per_node;
  if (job.distribution > 0) message.task_dist = job.distribution;
  if (job.plane_size > 0) message.plane_size = job.plane_size;
  if (job.sockets_per_node > 0) message.sockets_per_node = job.sockets_per_node;
  if (job.cores_per_socket > 0) message.cores_per_socket = job.cores_per_socket;
  if (job.threads_per_core > 0) message.threads_per_core = job.threads_per_core;
  if (job.ntasks_per_core > 0) message.ntasks_per_core = job.ntasks_per_core;
}

void put_sharing(job_desc_msg_t& message, SlurmJob::Sharing sharing)
{
  using Sharing = SlurmJob::Sharing;
  if (sharing == Sharing::nobody) message.shared = JOB_SHARED_NONE;
  if (sharing == Sharing::same_user) message.shared = JOB_SHARED_USER;
  if (sharing == Sharing::same_mcs) message.shared = JOB_SHARED_MCS;
  if (sharing == Sharing::anybody) message.shared = JOB_SHARED_OK;
}

void put_place(job_desc_msg_t& message, const SlurmJob& job)
{
  put_sharing(message, job.sharing);
  if (job.contiguous) message.contiguous = 1;
  message.partition = borrow(job.partition);
  message.account = borrow(job.account);
  message.qos = borrow(job.qos);
  message.features = borrow(job.constraint);
  message.reservation = borrow(job.reservation);
  message.exc_nodes = borrow(job.exclude_nodes);
  message.req_nodes = borrow(job.require_nodes);
  message.prefer = borrow(job.prefer);
  message.container = borrow(job.container);
  message.tres_per_job = borrow(job.gpus);
  message.tres_per_socket = borrow(job.gpus_per_socket);
  message.tres_per_task = borrow(job.gpus_per_task);
  message.licenses = borrow(job.licenses);
  message.wckey = borrow(job.wckey);
  if (job.switches > 0) message.req_switch = static_cast<std::uint32_t>(job.switches);
  if (job.switches_wait_s > 0) message.wait4switch = static_cast<std::uint32_t>(job.switches_wait_s);
}

void put_life(job_desc_msg_t& message, const SlurmJob& job)
{
  message.array_inx = borrow(job.array);
  message.dependency = borrow(job.dependency);
  message.requeue = job.requeue ? 1 : 0;
  message.mail_user = borrow(job.mail_user);
  if (job.mail_type != 0) message.mail_type = job.mail_type;
  if (job.nice) message.nice = static_cast<std::uint32_t>(NICE_OFFSET + *job.nice);
  if (job.begin_unix_s > 0) message.begin_time = static_cast<time_t>(job.begin_unix_s);
  if (job.deadline_unix_s > 0) message.deadline = static_cast<time_t>(job.deadline_unix_s);
  if (job.time_min_min > 0) message.time_min = static_cast<std::uint32_t>(job.time_min_min);
  if (job.hold) message.priority = 0;
  if (job.signal == 0 || job.signal_ahead_s <= 0) return;
  message.warn_signal = static_cast<std::uint16_t>(job.signal);
  message.warn_time = static_cast<std::uint16_t>(std::min<std::int64_t>(job.signal_ahead_s, 0xfffe));
  message.warn_flags = KILL_JOB_BATCH;
}

std::vector<std::string> words_of(const std::map<std::string, std::string>& environment)
{
  std::vector<std::string> words;
  for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
  return words;
}

// A job request, with the arrays of pointers that it borrows.
class JobMessage {
 public:
  explicit JobMessage(const SlurmJob& job)
      : environment_(words_of(job.environment)), arguments_{job.script_path},
        tres_per_node_(job.gpus_per_node + (job.gpus_per_node.empty() || job.gres.empty() ? "" : ",") + job.gres),
        memory_per_gpu_(job.memory_per_gpu_mib ? "gres:gpu:" + std::to_string(*job.memory_per_gpu_mib) : ""),
        cpus_per_gpu_(job.cpus_per_gpu > 0 ? "gres:gpu:" + std::to_string(job.cpus_per_gpu) : "")
  {
    slurm_init_job_desc_msg(&message_);
    for (auto& word : environment_) environment_pointers_.push_back(word.data());
    for (auto& word : arguments_) argument_pointers_.push_back(word.data());
    message_.environment = environment_pointers_.data();
    message_.env_size = static_cast<std::uint32_t>(environment_pointers_.size());
    message_.argv = argument_pointers_.data();
    message_.argc = static_cast<std::uint32_t>(argument_pointers_.size());
    message_.user_id = getuid();
    message_.group_id = getgid();
    put_texts(job);
    put_size(message_, job);
    put_place(message_, job);
    message_.tres_per_node = borrow(tres_per_node_);
    message_.mem_per_tres = borrow(memory_per_gpu_);
    message_.cpus_per_tres = borrow(cpus_per_gpu_);
    put_life(message_, job);
  }
  job_desc_msg_t* get() { return &message_; }

 private:
  void put_texts(const SlurmJob& job)
  {
    message_.name = borrow(job.name);
    message_.comment = borrow(job.comment);
    // The accounting stores comments only if the site has configured that, but always stores the submit line: it identifies the
    // job there.
    message_.submit_line = borrow(job.comment);
    message_.script = borrow(job.script);
    message_.work_dir = borrow(job.work_dir);
    message_.std_out = borrow(job.out_path);
    message_.std_in = borrow(no_input_);
    message_.open_mode = OPEN_MODE_APPEND;
  }

  std::string no_input_ = "/dev/null";
  std::vector<std::string> environment_, arguments_;
  std::string tres_per_node_; // combines --gpus-per-node and --gres
  std::string memory_per_gpu_, cpus_per_gpu_;
  std::vector<char*> environment_pointers_, argument_pointers_;
  job_desc_msg_t message_{};
};

// ---- what the queue and the accounting answer -------------------------------------------------------------------------

StateFlags flags_of(std::uint32_t state)
{
  return {(state & JOB_COMPLETING) != 0, (state & JOB_CONFIGURING) != 0 || (state & JOB_POWER_UP_NODE) != 0,
          (state & JOB_REQUEUE) != 0, (state & (JOB_REQUEUE_HOLD | JOB_SPECIAL_EXIT)) != 0};
}

std::string state_words(std::uint32_t state)
{
  auto words = (state & JOB_STATE_BASE) < JOB_END ? text_of(slurm_job_state_string(state & JOB_STATE_BASE))
                                                  : "STATE " + std::to_string(state & JOB_STATE_BASE);
  constexpr std::array<std::pair<std::uint64_t, const char*>, 12> flags{{{JOB_COMPLETING, "COMPLETING"},
                                                                         {JOB_CONFIGURING, "CONFIGURING"},
                                                                         {JOB_POWER_UP_NODE, "POWER_UP_NODE"},
                                                                         {JOB_REQUEUE, "REQUEUED"},
                                                                         {JOB_REQUEUE_HOLD, "REQUEUE_HOLD"},
                                                                         {JOB_REQUEUE_FED, "REQUEUE_FED"},
                                                                         {JOB_SPECIAL_EXIT, "SPECIAL_EXIT"},
                                                                         {JOB_STOPPED, "STOPPED"},
                                                                         {JOB_RESIZING, "RESIZING"},
                                                                         {JOB_SIGNALING, "SIGNALING"},
                                                                         {JOB_STAGE_OUT, "STAGE_OUT"},
                                                                         {JOB_LAUNCH_FAILED, "LAUNCH_FAILED"}}};
  for (const auto& [bit, name] : flags)
    if ((state & bit) != 0) words += std::string(" ") + name;
  return words;
}

std::vector<std::uint32_t> tasks_of(std::uint32_t array_id, std::uint32_t task, const char* waiting)
{
  if (array_id == 0) return {};
  if (task != NO_VAL) return {task};
  return expand_array_tasks(text_of(waiting));
}

// "node[1-2]" -> node1, node2.
std::vector<std::string> names_of(const std::string& nodes)
{
  const std::unique_ptr<hostlist, decltype(&slurm_hostlist_destroy)> list(slurm_hostlist_create(nodes.c_str()),
                                                                          &slurm_hostlist_destroy);
  std::vector<std::string> names;
  while (list) {
    const std::unique_ptr<char, decltype(&std::free)> name(slurm_hostlist_shift(list.get()), &std::free);
    if (!name) break;
    names.emplace_back(name.get());
  }
  return names;
}

// Slurm 22.05 does not report the node whose failure ended a job; later versions do.
template<typename Job> std::string failed_node(const Job& job)
{
  if constexpr (requires { job.failed_node; })
    return text_of(job.failed_node);
  else
    return {};
}

// Slurm reports the time of the last suspension or resumption, and the run time until the last suspension.
std::int64_t suspended_s(const slurm_job_info_t& job)
{
  if (job.suspend_time == 0 || job.start_time == 0) return 0;
  return std::max<std::int64_t>(0, job.suspend_time - job.start_time - job.pre_sus_time);
}

SlurmRecord record_of(const slurm_job_info_t& job)
{
  SlurmRecord record;
  record.id = job.job_id;
  record.array_id = job.array_job_id;
  record.tasks = tasks_of(job.array_job_id, job.array_task_id, job.array_task_str);
  record.name = text_of(job.name);
  record.comment = text_of(job.comment);
  record.state = state_words(job.job_state);
  record.base_state = job.job_state & JOB_STATE_BASE;
  record.flags = flags_of(job.job_state);
  record.reason = text_of(slurm_job_reason_string(job.state_reason));
  record.reason_details = text_of(job.state_desc);
  record.dependency = text_of(job.dependency);
  record.exit_status = job.exit_code == NO_VAL ? 0 : job.exit_code;
  record.derived_exit_status = job.derived_ec == NO_VAL ? 0 : job.derived_ec;
  record.submit_unix_s = job.submit_time;
  record.start_unix_s = job.start_time;
  record.end_unix_s = job.end_time;
  record.suspended_s = suspended_s(job);
  record.restarts = job.restart_cnt;
  record.nodes = text_of(job.nodes);
  record.failed_node = failed_node(job);
  if (record.base_state == JOB_NODE_FAIL) record.node_names = names_of(record.nodes);
  record.partition = text_of(job.partition);
  record.time_limit_s = limit_s(job.time_limit);
  return record;
}

// The accounting has no restart count and no details. The submit line contains our comment.
SlurmRecord record_of(const slurmdb_job_rec_t& job)
{
  SlurmRecord record;
  record.id = job.jobid;
  record.array_id = job.array_job_id;
  record.tasks = tasks_of(job.array_job_id, job.array_task_id, job.array_task_str);
  record.name = text_of(job.jobname);
  record.comment = text_of(job.submit_line);
  record.state = state_words(job.state);
  record.base_state = job.state & JOB_STATE_BASE;
  record.flags = flags_of(job.state);
  record.reason = text_of(slurm_job_reason_string(static_cast<int>(job.state_reason_prev)));
  record.exit_status = job.exitcode == NO_VAL ? 0 : job.exitcode;
  record.derived_exit_status = job.derived_ec == NO_VAL ? 0 : job.derived_ec;
  record.submit_unix_s = job.submit;
  record.start_unix_s = job.start;
  record.end_unix_s = job.end;
  record.nodes = text_of(job.nodes);
  if (record.nodes == "None assigned") record.nodes.clear(); // it never had nodes
  record.failed_node = failed_node(job);
  if (record.base_state == JOB_NODE_FAIL) record.node_names = names_of(record.nodes);
  record.partition = text_of(job.partition);
  record.time_limit_s = limit_s(job.timelimit);
  if (record.base_state == JOB_CANCELLED && job.requid != NO_VAL) record.cancelled_by = user_name(job.requid);
  return record;
}

// Owns a libslurm list and destroys it. Whether the elements are freed too depends on how the list was created.
class SlurmList {
 public:
  explicit SlurmList(List list) : list_(list) {}
  SlurmList(const SlurmList&) = delete;
  SlurmList& operator=(const SlurmList&) = delete;
  ~SlurmList()
  {
    if (list_ != nullptr) slurm_list_destroy(list_);
  }
  List get() const { return list_; }

 private:
  List list_;
};

// A query to the accounting. Owns the elements of its lists.
class PastMessage {
 public:
  explicit PastMessage(const PastQuery& query)
      : names_(query.names), user_(std::to_string(getuid())), steps_(query.ids.size()), step_list_(slurm_list_create(nullptr)),
        name_list_(slurm_list_create(nullptr)), user_list_(slurm_list_create(nullptr))
  {
    for (std::size_t i = 0; i < steps_.size(); ++i) add_step(steps_[i], query.ids[i]);
    for (auto& name : names_) slurm_list_append(name_list_.get(), name.data());
    slurm_list_append(user_list_.get(), user_.data());
    condition_.flags = JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_TRUNC;
    condition_.db_flags = NO_VAL; // any SLURMDB_JOB_FLAG
    condition_.usage_start = static_cast<time_t>(query.since_unix_s);
    condition_.userid_list = user_list_.get();
    if (!query.ids.empty()) condition_.step_list = step_list_.get();
    if (!query.names.empty()) condition_.jobname_list = name_list_.get();
  }
  slurmdb_job_cond_t* get() { return &condition_; }

 private:
  void add_step(slurm_selected_step_t& step, std::uint32_t id)
  {
    step.array_task_id = NO_VAL;
    step.het_job_offset = NO_VAL;
    step.step_id = {id, NO_VAL, NO_VAL};
    slurm_list_append(step_list_.get(), &step);
  }

  std::vector<std::string> names_;
  std::string user_;
  std::vector<slurm_selected_step_t> steps_;
  SlurmList step_list_, name_list_, user_list_;
  slurmdb_job_cond_t condition_{};
};

class AccountingConnection {
 public:
  AccountingConnection() : connection_(slurmdb_connection_get(nullptr)) {}
  AccountingConnection(const AccountingConnection&) = delete;
  AccountingConnection& operator=(const AccountingConnection&) = delete;
  ~AccountingConnection()
  {
    if (connection_ != nullptr) slurmdb_connection_close(&connection_);
  }
  void* get() const { return connection_; }

 private:
  void* connection_;
};

SlurmPartition partition_of(const partition_info_t& info)
{
  SlurmPartition partition;
  partition.name = text_of(info.name);
  partition.nodes = info.total_nodes;
  partition.cpus = info.total_cpus;
  partition.max_time_s = limit_s(info.max_time);
  partition.max_nodes_per_job = count_or_none(info.max_nodes);
  partition.is_default = (info.flags & PART_FLAG_DEFAULT) != 0;
  partition.is_up = info.state_up == PARTITION_UP;
  partition.node_list = text_of(info.nodes);
  return partition;
}

SlurmNode node_of(const node_info_t& info)
{
  constexpr auto unusable = NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND | NODE_STATE_MAINT;
  const auto base = info.node_state & NODE_STATE_BASE;
  SlurmNode node;
  node.name = text_of(info.name);
  node.state = text_of(slurm_node_state_string(info.node_state));
  node.reason = text_of(info.reason);
  node.cpus = info.cpus;
  node.memory_mib = static_cast<std::int64_t>(info.real_memory);
  node.features = text_of(info.features);
  node.partitions = text_of(info.partitions);
  node.is_usable =
      (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED) && (info.node_state & unusable) == 0;
  return node;
}

SlurmSite site_of(const slurm_conf_t& conf)
{
  SlurmSite site;
  site.version = text_of(conf.version);
  site.cluster = text_of(conf.cluster_name);
  site.max_array_size = conf.max_array_sz;
  site.max_array_tasks = parameter(text_of(conf.sched_params), "max_array_tasks");
  site.max_jobs = conf.max_job_cnt;
  site.min_job_age_s = conf.min_job_age;
  site.message_timeout_s = conf.msg_timeout;
  site.kill_wait_s = conf.kill_wait;
  site.has_accounting = text_of(conf.accounting_storage_type) == "accounting_storage/slurmdbd";
  site.mpi_default = text_of(conf.mpi_default);
  site.mpi_plugins = mpi_plugins(text_of(conf.plugindir));
  site.preempt_type = text_of(conf.preempt_type);
  constexpr std::uint16_t enforces_associations = 1; // ACCOUNTING_ENFORCE_ASSOCS of slurmdbd's own headers
  site.demands_account = (conf.accounting_storage_enforce & enforces_associations) != 0;
  return site;
}

// ---- the api ------------------------------------------------------------------------------------------------------------

// Makes a read-only request that is abandoned if the controller is down; libslurm would retry until MessageTimeout.
template<typename Read> auto read_watched(Read read)
{
  return watched(std::move(read), [] {
    bool listens = false;
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt && !listens; ++i)
      listens = !refuses_connections(text_of(slurm_conf.control_addr[i]), static_cast<std::uint16_t>(slurm_conf.slurmctld_port));
    if (!listens) fail(SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR);
  });
}

class Module final : public SlurmApi {
 public:
  Module()
  {
    // Otherwise libslurm cuts the list of an array's waiting tasks at 64 characters.
    setenv("SLURM_BITSTR_LEN", "0", 1);
    slurm_init(nullptr);
  }

  std::string controller() const override
  {
    std::string names;
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt; ++i)
      names += (i == 0 ? "" : ", ") + text_of(slurm_conf.control_machine[i]) + ":" + std::to_string(slurm_conf.slurmctld_port);
    return names;
  }

  std::string cluster() override { return text_of(slurm_conf.cluster_name); }

  bool has_accounting() const override { return text_of(slurm_conf.accounting_storage_type) == "accounting_storage/slurmdbd"; }

  SlurmSite site() override
  {
    auto site = read_watched([] {
      slurm_conf_t* conf = nullptr;
      check([&] { return slurm_load_ctl_conf(0, &conf); });
      const std::unique_ptr<slurm_conf_t, decltype(&slurm_free_ctl_conf)> owner(conf, &slurm_free_ctl_conf);
      return site_of(*conf);
    });
    site.controller = controller();
    return site;
  }

  std::vector<SlurmPartition> partitions() override
  {
    return read_watched([] {
      partition_info_msg_t* answer = nullptr;
      check([&] { return slurm_load_partitions(0, &answer, SHOW_ALL | SHOW_LOCAL); });
      const std::unique_ptr<partition_info_msg_t, decltype(&slurm_free_partition_info_msg)> owner(answer,
                                                                                                  &slurm_free_partition_info_msg);
      std::vector<SlurmPartition> partitions;
      for (std::uint32_t i = 0; i < answer->record_count; ++i) partitions.push_back(partition_of(answer->partition_array[i]));
      return partitions;
    });
  }

  std::vector<SlurmNode> nodes() override
  {
    return read_watched([] {
      node_info_msg_t* answer = nullptr;
      check([&] { return slurm_load_node(0, &answer, SHOW_ALL | SHOW_LOCAL); });
      const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> owner(answer, &slurm_free_node_info_msg);
      partition_info_msg_t* partitions = nullptr;
      check([&] { return slurm_load_partitions(0, &partitions, SHOW_ALL | SHOW_LOCAL); });
      const std::unique_ptr<partition_info_msg_t, decltype(&slurm_free_partition_info_msg)> partitions_owner(
          partitions, &slurm_free_partition_info_msg);
      slurm_populate_node_partitions(answer, partitions);
      std::vector<SlurmNode> nodes;
      for (std::uint32_t i = 0; i < answer->record_count; ++i)
        if (answer->node_array[i].name != nullptr) nodes.push_back(node_of(answer->node_array[i]));
      return nodes;
    });
  }

  std::vector<SlurmReservation> reservations() override
  {
    return read_watched([] {
      reserve_info_msg_t* answer = nullptr;
      check([&] { return slurm_load_reservations(0, &answer); });
      const std::unique_ptr<reserve_info_msg_t, decltype(&slurm_free_reservation_info_msg)> owner(
          answer, &slurm_free_reservation_info_msg);
      std::vector<SlurmReservation> reservations;
      for (std::uint32_t i = 0; i < answer->record_count; ++i) {
        const auto& one = answer->reservation_array[i];
        reservations.push_back({text_of(one.name), names_of(text_of(one.node_list)), one.start_time, one.end_time});
      }
      return reservations;
    });
  }

  std::vector<std::string> accounts() override
  {
    const CapturedWords silence;
    const AccountingConnection connection;
    auto user = user_name(getuid());
    auto cluster = text_of(slurm_conf.cluster_name);
    const SlurmList users(slurm_list_create(nullptr)), clusters(slurm_list_create(nullptr));
    slurm_list_append(users.get(), user.data());
    slurm_list_append(clusters.get(), cluster.data());
    slurmdb_assoc_cond_t condition{};
    condition.user_list = users.get();
    condition.cluster_list = clusters.get();
    errno = 0;
    const SlurmList answer(connection.get() == nullptr ? nullptr : slurmdb_associations_get(connection.get(), &condition));
    if (answer.get() == nullptr) fail(slurm_get_errno() == 0 ? ESLURM_DB_CONNECTION : slurm_get_errno());
    std::vector<std::string> accounts;
    const auto iterator = slurm_list_iterator_create(answer.get());
    while (const auto* one = static_cast<slurmdb_assoc_rec_t*>(slurm_list_next(iterator)))
      accounts.insert(one->is_def == 1 ? accounts.begin() : accounts.end(), text_of(one->acct));
    slurm_list_iterator_destroy(iterator);
    return accounts;
  }

  std::uint32_t submit(const SlurmJob& job) override
  {
    JobMessage message(job);
    submit_response_msg_t* answer = nullptr;
    const CapturedWords words;
    errno = 0;
    if (slurm_submit_batch_job(message.get(), &answer) != SLURM_SUCCESS) fail_with(slurm_get_errno(), words);
    const auto id = answer->job_id; // an error_code in the answer is only a warning: the job was accepted
    slurm_free_submit_response_response_msg(answer);
    return id;
  }

  std::vector<SlurmRecord> load_jobs() override
  {
    return read_watched([] {
      job_info_msg_t* answer = nullptr;
      check([&] { return slurm_load_job_user(&answer, getuid(), SHOW_ALL | SHOW_LOCAL); });
      const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> owner(answer, &slurm_free_job_info_msg);
      std::vector<SlurmRecord> records;
      records.reserve(answer->record_count);
      for (std::uint32_t i = 0; i < answer->record_count; ++i) records.push_back(record_of(answer->job_array[i]));
      return records;
    });
  }

  std::vector<SlurmRecord> load_past(const PastQuery& query) override
  {
    const CapturedWords silence;
    const AccountingConnection connection;
    PastMessage message(query);
    errno = 0;
    const SlurmList answer(connection.get() == nullptr ? nullptr : slurmdb_jobs_get(connection.get(), message.get()));
    if (answer.get() == nullptr) fail(slurm_get_errno() == 0 ? ESLURM_DB_CONNECTION : slurm_get_errno());
    std::vector<SlurmRecord> records;
    const auto iterator = slurm_list_iterator_create(answer.get());
    while (const auto* job = static_cast<slurmdb_job_rec_t*>(slurm_list_next(iterator))) records.push_back(record_of(*job));
    slurm_list_iterator_destroy(iterator);
    return records;
  }

  void kill(const std::string& id) override
  {
    check([&] { return slurm_kill_job2(id.c_str(), SIGKILL, 0, nullptr); });
  }

  bool ping() override
  {
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt; ++i)
      if (slurm_ping(static_cast<int>(i)) == SLURM_SUCCESS) return true;
    return false;
  }
};

} // namespace
} // namespace dt::jobs::slurm

extern "C" dt::jobs::slurm::SlurmApi* dtctl_slurm_open() { return new dt::jobs::slurm::Module(); }

extern "C" const char* dtctl_slurm_api() { return DTCTL_SLURM_API; }

// "22.05" of 0x160500 and above.
extern "C" const char* dtctl_slurm_release()
{
  constexpr unsigned year = SLURM_VERSION_NUMBER >> 16, month = SLURM_VERSION_NUMBER >> 8 & 0xff;
  static_assert(year < 100 && month < 100);
  static constexpr char text[]{'0' + year / 10, '0' + year % 10, '.', '0' + month / 10, '0' + month % 10, '\0'};
  return text;
}
