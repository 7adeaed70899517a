// A home whose run folders a test writes (tests/store/fixture.hpp), and the real dtctl on it. Nothing is trained.
#pragma once

#include "tests/cli/driver.hpp"
#include "tests/store/fixture.hpp"

namespace dt::test {

struct SiteHome {
  Words environment() const { return {"DTCTL_HOME=" + site.home.root().string()}; }
  CommandResult run(const Words& words, const Words& more = {}) const { return dtctl.run(words, with(environment(), more)); }
  Json json(const Words& words, const Words& more = {}) const { return dtctl.json(words, with(environment(), more)); }
  // The rows of a query, as JSON objects.
  Json ask(const std::string& sql) const
  {
    const auto answer = json({"query", sql});
    INFO(answer.dump());
    REQUIRE(answer.contains("rows"));
    return answer.at("rows");
  }
  // Beside the home: dtctl writes there.
  std::filesystem::path file(const std::string& name) const { return dtctl.folder() / name; }
  // dtctl makes the database again, with what was written since.
  void forget_database() const
  {
    for (const auto* helper : {"", "-wal", "-shm"}) std::filesystem::remove(site.home.database().string() + helper);
  }

  store::test::Site site;
  Dtctl dtctl;
};

} // namespace dt::test
