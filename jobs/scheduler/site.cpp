#include "jobs/scheduler/site.hpp"

#include <utility>

#include <fmt/format.h>

namespace dt::jobs {

TrialRefusal::TrialRefusal(const std::string& scheduler, std::string words, int code)
    : Error(ErrorKind::scheduler, fmt::format("{} refuses the trial: {} ({})", scheduler, words, code)), words_(std::move(words))
{
}

} // namespace dt::jobs
