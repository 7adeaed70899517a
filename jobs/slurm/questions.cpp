#include "jobs/slurm/questions.hpp"

#include <cmath>
#include <random>

#include <fmt/format.h>

namespace dt::jobs::slurm {

double pause_before_s(int next_try)
{
  std::random_device device;
  return std::ldexp(std::uniform_real_distribution(0.5, 1.5)(device), next_try - 1);
}

Error no_answer(const SlurmApi& api, const SlurmFailure& failure)
{
  if (failure.code() == unreadable_answer)
    return {ErrorKind::scheduler, fmt::format("Slurm's answer cannot be read: {}. Nothing was lost.", failure.what())};
  return {ErrorKind::scheduler, fmt::format("Slurm's controller at {} does not answer ({}). Nothing was lost; try again later.",
                                            api.controller(), failure.what())};
}

} // namespace dt::jobs::slurm
