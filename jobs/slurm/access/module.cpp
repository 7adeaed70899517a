// libdtctl_slurm: implements SlurmLibrary with libslurm. This is the only file that includes Slurm's headers. It is a separate
// module, because a program that links libslurm does not start on machines without Slurm.
//
// Ownership: libslurm's request structs borrow our strings and must never be freed with libslurm's functions; its answers must
// be.
#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/access/captured_words.hpp"
#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

// libslurm exports these functions, but none of its installed headers declares them.
extern "C" {
char* slurm_job_state_string(std::uint32_t state);
char* slurm_job_reason_string(int reason);
extern slurm_conf_t slurm_conf;
}

namespace dt::jobs::slurm {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

// For struct fields that libslurm borrows and does not change, although they are not declared const.
char* borrow(const std::string& text) { return text.empty() ? nullptr : const_cast<char*>(text.c_str()); }

// Throws the failure with Slurm's general message, and in front of it what Slurm said in particular.
[[noreturn]] void fail(int code, const std::string& particular = {})
{
  throw SlurmFailure(code, text_of(slurm_strerror(code)) + (particular.empty() ? "" : ": " + particular));
}

// Makes a call of libslurm that returns 0 or sets errno.
template<typename Call> void check(Call call)
{
  errno = 0;
  if (call() != SLURM_SUCCESS) fail(slurm_get_errno());
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
      : environment_(words_of(job.environment)), command_(job.script_path),
        tres_per_node_(job.gpus_per_node > 0 ? "gres:gpu:" + std::to_string(job.gpus_per_node) : "")
  {
    slurm_init_job_desc_msg(&message_);
    for (auto& word : environment_) environment_pointers_.push_back(word.data());
    message_.environment = environment_pointers_.data();
    message_.env_size = static_cast<std::uint32_t>(environment_pointers_.size());
    message_.argv = &command_pointer_;
    message_.argc = 1;
    message_.user_id = getuid();
    message_.group_id = getgid();
    put_texts(job);
    put_size(job);
    put_place(job);
    put_life(job);
  }
  JobMessage(const JobMessage&) = delete;
  JobMessage& operator=(const JobMessage&) = delete;
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
  void put_size(const SlurmJob& job)
  {
    message_.min_nodes = message_.max_nodes = static_cast<std::uint32_t>(job.nodes);
    message_.num_tasks = static_cast<std::uint32_t>(job.tasks);
    message_.ntasks_per_node = static_cast<std::uint16_t>(job.tasks_per_node);
    message_.cpus_per_task = static_cast<std::uint16_t>(job.cpus_per_task);
    message_.min_cpus = static_cast<std::uint32_t>(job.tasks * job.cpus_per_task);
    message_.bitflags |= JOB_NTASKS_SET | JOB_CPUS_SET;
    if (job.time_limit_min > 0) message_.time_limit = static_cast<std::uint32_t>(job.time_limit_min);
  }
  void put_place(const SlurmJob& job)
  {
    message_.partition = borrow(job.partition);
    message_.account = borrow(job.account);
    message_.qos = borrow(job.qos);
    message_.features = borrow(job.constraint);
    message_.exc_nodes = borrow(job.exclude_nodes);
    message_.req_nodes = borrow(job.require_nodes);
    message_.tres_per_node = borrow(tres_per_node_);
  }
  void put_life(const SlurmJob& job)
  {
    message_.array_inx = borrow(job.array);
    message_.dependency = borrow(job.dependency);
    message_.requeue = job.requeue ? 1 : 0;
    if (job.signal == 0 || job.signal_ahead_s <= 0) return;
    message_.warn_signal = static_cast<std::uint16_t>(job.signal);
    message_.warn_time = static_cast<std::uint16_t>(std::min(job.signal_ahead_s, longest_warning_s));
    message_.warn_flags = KILL_JOB_BATCH;
  }

  std::string no_input_ = "/dev/null";
  std::vector<std::string> environment_;
  std::string command_, tres_per_node_;
  std::vector<char*> environment_pointers_;
  char* command_pointer_ = command_.data();
  job_desc_msg_t message_{};
};

std::vector<std::uint32_t> tasks_of(const slurm_job_info_t& job)
{
  if (job.array_job_id == 0) return {};
  if (job.array_task_id != NO_VAL) return {job.array_task_id};
  return expand_array_tasks(text_of(job.array_task_str));
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
  record.tasks = tasks_of(job);
  record.name = text_of(job.name);
  record.comment = text_of(job.comment);
  record.state = text_of(slurm_job_state_string(job.job_state));
  record.phase = phase_of(record.state);
  record.reason = text_of(slurm_job_reason_string(job.state_reason));
  record.reason_details = text_of(job.state_desc);
  record.dependency = text_of(job.dependency);
  record.exit_status = job.exit_code == NO_VAL ? 0 : job.exit_code;
  record.derived_exit_status = job.derived_ec == NO_VAL ? 0 : job.derived_ec;
  record.submit_unix_s = job.submit_time;
  record.start_unix_s = job.start_time;
  record.suspended_s = suspended_s(job);
  record.restarts = job.restart_cnt;
  record.nodes = text_of(job.nodes);
  record.failed_node = failed_node(job);
  record.partition = text_of(job.partition);
  const bool has_limit = job.time_limit != INFINITE && job.time_limit != NO_VAL;
  record.time_limit_s = has_limit ? static_cast<std::int64_t>(job.time_limit) * 60 : 0;
  return record;
}

class Module final : public SlurmLibrary {
 public:
  Module()
  {
    // Otherwise libslurm cuts the list of an array's waiting tasks at 64 characters.
    setenv("SLURM_BITSTR_LEN", "0", 1);
    slurm_init(nullptr);
  }

  std::string cluster() const override { return text_of(slurm_conf.cluster_name); }

  bool has_accounting() const override { return text_of(slurm_conf.accounting_storage_type) == accounting_by_slurmdbd; }

  std::uint32_t submit(const SlurmJob& job) override
  {
    JobMessage message(job);
    submit_response_msg_t* answer = nullptr;
    const CapturedWords words;
    errno = 0;
    if (slurm_submit_batch_job(message.get(), &answer) != SLURM_SUCCESS) fail(slurm_get_errno(), words.last());
    const auto id = answer->job_id; // an error_code in the answer is only a warning: the job was accepted
    slurm_free_submit_response_response_msg(answer);
    return id;
  }

  std::vector<SlurmRecord> load_jobs() override
  {
    expect_controller();
    job_info_msg_t* answer = nullptr;
    check([&] { return slurm_load_job_user(&answer, getuid(), SHOW_ALL | SHOW_LOCAL); });
    const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> owner(answer, &slurm_free_job_info_msg);
    std::vector<SlurmRecord> records;
    records.reserve(answer->record_count);
    for (std::uint32_t i = 0; i < answer->record_count; ++i) records.push_back(record_of(answer->job_array[i]));
    return records;
  }

  void kill(const std::string& id) override
  {
    check([&] { return slurm_kill_job2(id.c_str(), SIGKILL, 0, nullptr); });
  }

 private:
  // One of the controllers must answer.
  static void expect_controller()
  {
    errno = 0;
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt; ++i)
      if (slurm_ping(static_cast<int>(i)) == SLURM_SUCCESS) return;
    fail(slurm_get_errno() == 0 ? SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR : slurm_get_errno());
  }
};

} // namespace
} // namespace dt::jobs::slurm

extern "C" dt::jobs::slurm::SlurmLibrary* dtctl_slurm_open() { return new dt::jobs::slurm::Module(); }

extern "C" const char* dtctl_slurm_api() { return DTCTL_SLURM_API; }

// "22.05" of 0x160500 and above.
extern "C" const char* dtctl_slurm_release()
{
  constexpr unsigned year = SLURM_VERSION_NUMBER >> 16, month = SLURM_VERSION_NUMBER >> 8 & 0xff;
  static_assert(year < 100 && month < 100);
  static constexpr char text[]{'0' + year / 10, '0' + year % 10, '.', '0' + month / 10, '0' + month % 10, '\0'};
  return text;
}
