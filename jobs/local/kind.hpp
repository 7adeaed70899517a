// This machine as one of the schedulers of the registry.
#pragma once

#include "core/home/home.hpp"
#include "jobs/scheduler/kind.hpp"

namespace dt::jobs::local {

class LocalKind final : public SchedulerKind {
 public:
  std::string name() const override { return "local"; }
  std::unique_ptr<Scheduler> open(const Home& home) const override;
  std::vector<std::string> nodes(const ResourcesSpec& resources) const override;
  std::vector<std::string> refusals(std::span<const JobRequest> requests) const override;
};

} // namespace dt::jobs::local
