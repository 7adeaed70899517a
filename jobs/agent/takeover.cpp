#include "jobs/agent/takeover.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/record/claim.hpp"
#include "jobs/attempts/attempts.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

namespace fs = std::filesystem;

AttemptFolder next_of(const AttemptFolder& attempt) { return {attempt.run_folder(), attempt.number() + 1}; }

// A withdrawn attempt, or one that was made again for another submission, must not be run.
bool is_made_for(const AttemptFolder& attempt, const std::string& token)
{
  const auto submission = read_submission(attempt);
  return submission && submission->token == token && is_there(attempt.script());
}

bool is_earlier_self(const Owner& owner, const std::string& token, const JobIdentity& self)
{
  return owner.token == token && owner.job_id == self.job_id && owner.restart < self.restart;
}

Error cannot_be(const AttemptFolder& attempt, const std::string& what, const Error& cause)
{
  return {ErrorKind::environment,
          fmt::format("{} cannot be {} (is the disk full or read-only?): {}", attempt.path().string(), what, cause.what())};
}

bool claim_or_throw(const AttemptFolder& attempt, const Owner& owner)
{
  try {
    return claim(attempt, owner);
  } catch (const Error& error) {
    throw cannot_be(attempt, "claimed", error);
  }
}

void fence_or_throw(const AttemptFolder& attempt, int successor)
{
  try {
    fence(attempt, successor);
  } catch (const Error& error) {
    throw cannot_be(attempt, "fenced off", error);
  }
}

// Removes the folder, unless it was renamed.
class NewFolder {
 public:
  explicit NewFolder(fs::path path) : path_(std::move(path))
  {
    if (::mkdir(path_.c_str(), 0700) != 0) throw system_error("make " + path_.string(), errno);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder()
  {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  const fs::path& path() const { return path_; }
  // Returns false if something is there already.
  bool rename_to(const fs::path& target) const
  {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return true;
    // NFS does not know the flag. A plain rename replaces an empty folder only.
    if (errno == EINVAL && !is_there(target) && std::rename(path_.c_str(), target.c_str()) == 0) return true;
    if (errno == EEXIST || errno == ENOTEMPTY || is_there(target)) return false;
    throw system_error("rename to " + target.string(), errno);
  }

 private:
  fs::path path_;
};

// Puts attempt `next` into place: the script and the intent of `attempt`, claimed by this process. Returns false if it is there
// already.
bool make_next(const AttemptFolder& attempt, const AttemptFolder& next, const Owner& self)
{
  auto submission = read_submission(attempt);
  if (!submission) throw Error(ErrorKind::environment, attempt.submission().string() + " cannot be read");
  submission->attempt = next.number();
  submission->restart = self.restart;
  const auto parent = next.path().parent_path();
  const NewFolder folder(parent / fmt::format(".next.{}.{}", host_name(), ::getpid()));
  write_file_atomic(folder.path() / attempt.script().filename(), read_file(attempt.script()));
  write_file_atomic(folder.path() / attempt.submission().filename(), to_json(*submission));
  create_file_exclusive(folder.path() / attempt.owner().filename(), to_json(self));
  if (!folder.rename_to(next.path())) return false;
  sync_folder(parent);
  return true;
}

bool make_next_or_throw(const AttemptFolder& attempt, const AttemptFolder& next, const Owner& self)
{
  try {
    return make_next(attempt, next, self);
  } catch (const Error& error) {
    throw cannot_be(next, "made", error);
  }
}

class Takeover {
 public:
  Takeover(std::string token, const JobIdentity& self, const std::function<void(const std::string&)>& say)
      : token_(std::move(token)), self_(self), say_(say)
  {
  }

  std::optional<AttemptFolder> from(AttemptFolder attempt) const
  {
    for (;;) {
      if (!is_made_for(attempt, token_)) return leave(attempt, "is not there for " + token_ + " any more: nothing is run");
      if (is_there(attempt.cancel())) return leave(attempt, "was cancelled: nothing is run");
      const auto outcome = read_outcome(attempt);
      if (outcome.result) return leave(attempt, "has a result: nothing is left to do");
      if (!outcome.fenced_by && !read_owner(attempt) && claim_or_throw(attempt, me())) return own(attempt);
      const auto owner = read_owner(attempt);
      if (!owner) return leave(attempt, "was fenced off before it began: nothing is run");
      if (!is_earlier_self(*owner, token_, self_)) return leave(attempt, "is somebody else's: nothing is run");
      if (self_.is_ladder && has_ended_by_itself(attempt)) return leave(attempt, "has ended by itself: nothing is run");
      const auto next = next_of(attempt);
      if (is_there(next.path())) {
        attempt = next;
        continue;
      }
      fence_or_throw(attempt, next.number());
      if (read_outcome(attempt).result) continue; // it came in before the fence
      if (make_next_or_throw(attempt, next, me())) return take_over(attempt, next);
    }
  }

 private:
  Owner me() const { return own_identity(token_, self_.job_id, self_.restart); }

  std::nullopt_t leave(const AttemptFolder& attempt, const std::string& why) const
  {
    say_(attempt.path().string() + " " + why);
    return std::nullopt;
  }

  static AttemptFolder own(const AttemptFolder& attempt)
  {
    fs::remove(attempt.stop_reason()); // of a start that was stopped before this attempt's turn
    return attempt;
  }

  AttemptFolder take_over(const AttemptFolder& attempt, const AttemptFolder& next) const
  {
    say_(attempt.path().string() + " is fenced off; " + next.path().string() + " takes its place");
    return next;
  }

  // A ladder's run that was not cut off: it ended, or reached its own time limit and may not be started again for that.
  static bool has_ended_by_itself(const AttemptFolder& attempt) { return is_there(attempt.end()) && !was_cut_off(attempt); }

  std::string token_;
  const JobIdentity& self_;
  const std::function<void(const std::string&)>& say_;
};

} // namespace

std::optional<AttemptFolder> take_attempt(const AttemptFolder& first, const std::string& token, const JobIdentity& self,
                                          const std::function<void(const std::string&)>& say)
{
  return Takeover(token, self, say).from(first);
}

} // namespace dt::jobs::agent
