#include "jobs/follow/hold_back.hpp"

#include "core/files/file.hpp"
#include "core/record/study_record.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/follow/reconcile.hpp"
#include "jobs/machine/quick_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

bool is_hash(std::string_view word)
{
  return word.size() >= 8 && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "study/label/#2" is a run of the point "study/label".
std::string point_of(const std::string& run_name) { return run_name.substr(0, run_name.rfind("/#")); }

// What is known of the submission from the latest attempts of its runs, in order, until it is decided that nothing is held back.
struct Look {
  std::vector<AttemptFolder> waiting;
  std::set<std::string> waiting_points, failed_points;
  std::vector<std::string> causes;                    // of the runs that failed before their first step
  bool works = false;                                 // a run made a step or has a result
  bool differ = false;                                // the causes are of several kinds
  bool is_decided() const { return works || differ; } // nothing is held back
};

class Looker {
 public:
  Looker(const Home& home, const StudyRecord& study, const Submission& own) : own_(own)
  {
    for (std::size_t i = 0; i < study.run_keys.size(); ++i) points_[study.run_keys[i]] = point_of(study.run_names[i]);
    constexpr std::size_t at_once = 64;
    for (std::span<const std::string> keys = study.run_keys; !keys.empty() && !look_.is_decided();) {
      const auto some = keys.first(std::min(at_once, keys.size()));
      for (auto& latest : latest_attempts(home, some))
        if (is_of_submission(latest)) add(latest);
      keys = keys.subspan(some.size());
    }
  }

  const Look& look() const { return look_; }

 private:
  bool is_of_submission(const LatestAttempt& latest) const
  {
    const auto& submission = latest.record.submission;
    return latest.unreadable.empty() && submission && submission->study == own_.study &&
           submission->submitted_unix_s >= own_.submitted_unix_s;
  }

  void add(LatestAttempt& latest)
  {
    if (latest.record.has_result || has_stepped(*latest.folder)) {
      look_.works = true;
    } else if (latest.record.end) {
      if (auto cause = cause_before_first_step(evidence_of(*latest.reader, latest.record, {}))) {
        look_.causes.push_back(*cause);
        look_.differ = look_.differ || kind_of_cause(*cause) != kind_of_cause(look_.causes.front());
        look_.failed_points.insert(points_.at(latest.key));
      }
    } else if (!is_there(latest.folder->owner()) && !is_there(latest.folder->cancel())) {
      look_.waiting.push_back(*latest.folder);
      look_.waiting_points.insert(points_.at(latest.key));
    }
  }

  const Submission& own_;
  std::map<std::string, std::string> points_; // by run key
  Look look_;
};

bool must_hold_back(const Look& look)
{
  if (look.is_decided() || look.waiting.empty() || look.causes.size() < failures_that_hold_back) return false;
  return look.failed_points.size() > 1 || look.failed_points == look.waiting_points;
}

} // namespace

std::string kind_of_cause(std::string_view cause)
{
  constexpr std::string_view code = "exit code ";
  constexpr std::string_view of_rank = " ended with exit code ";
  // Which rank fails first is chance, and not every launch of mpirun says it.
  if (const auto at = cause.find(of_rank); cause.starts_with("rank") && at != std::string_view::npos)
    cause.remove_prefix(at + of_rank.size() - code.size());
  std::string kind;
  for (std::size_t i = 0; i < cause.size();) {
    const auto is_of_word = [](unsigned char c) { return std::isalnum(c) != 0; };
    const auto end = static_cast<std::size_t>(
        std::find_if_not(cause.begin() + static_cast<std::ptrdiff_t>(i), cause.end(), is_of_word) - cause.begin());
    const auto word = cause.substr(i, end - i);
    if (word.empty()) {
      kind += cause[i++];
      continue;
    }
    if (is_hash(word) || (word.find_first_not_of("0123456789") == std::string_view::npos && !kind.ends_with(code)))
      kind += '#';
    else
      kind += word;
    i = end;
  }
  return kind;
}

std::vector<AttemptFolder> hold_back_rest(const AttemptFolder& failed)
{
  const bool was_stopped = is_there(failed.cancel()) || is_there(failed.preempted()) || is_there(failed.stop_reason());
  if (was_stopped || has_stepped(failed)) return {};
  const auto home = home_of(failed);
  const auto own = read_submission(failed);
  const auto study = own && !own->study.empty() ? read_study(home.study(own->study)) : std::nullopt;
  if (!study || study->keep_going || study->run_keys.size() <= failures_that_hold_back) return {};
  // If another process looks now, there are failures enough, or a later one looks again.
  const auto lock = FileLock::try_acquire(home.study(own->study) / "hold.lock");
  if (!lock) return {};
  const Looker looker(home, *study, *own);
  const auto& look = looker.look();
  if (!must_hold_back(look)) return {};
  const auto why = fmt::format("the first {} runs of the study failed before their first step in the same way: {}",
                               look.causes.size(), look.causes.front());
  for (const auto& attempt : look.waiting)
    create_file_quick(attempt.cancel(),
                      to_line(Cancellation{.unix_s = now_unix_s(), .who = {}, .kind = cause_kind::held_back, .why = why}));
  return look.waiting;
}

} // namespace dt::jobs
