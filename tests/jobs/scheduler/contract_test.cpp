// The contract of schedulers on the fake one and on this machine.
#include "jobs/local/kind.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/jobs/scheduler/contract_stage.hpp"
#include "tests/jobs/scheduler/fake_scheduler.hpp"

#include <optional>
#include <tuple>

namespace dt::jobs::testing {
namespace {

struct FakePlace {
  Folder folder;
  FakeKind fake;
};

class FakeStage final : private FakePlace, public ContractStage {
 public:
  FakeStage() : ContractStage(fake, Home(folder.path())) {}
  void enter(const std::string& job_id) override { variable_.emplace(fake_id_variable, job_id); }

 private:
  std::optional<Variable> variable_;
};

struct LocalPlace {
  Playground place;
  local::LocalKind here;
};

class LocalStage final : private LocalPlace, public ContractStage {
 public:
  LocalStage() : ContractStage(here, place.home()) {}
  bool has_ladders() const override { return false; }
};

using ContractStages = std::tuple<FakeStage, LocalStage>;

} // namespace
} // namespace dt::jobs::testing

#include "tests/jobs/scheduler/contract_cases.hpp"
