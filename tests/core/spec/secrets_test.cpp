#include "core/spec/secrets.hpp"

#include "core/spec/run_key.hpp"
#include "tests/core/sample_spec.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("variables with names of secrets are told from others")
{
  for (const auto* name :
       {"API_TOKEN", "aws_secret_access_key", "DB_PASSWORD", "GITHUB_PAT", "SSH_KEY", "KEY", "MyPassword",
        "GOOGLE_APPLICATION_CREDENTIALS", "WANDB_API_KEY", "HTTP_AUTHORIZATION", "DB_PASS", "SESSION_COOKIE"}) {
    INFO(name);
    CHECK(looks_secret(name));
  }
  for (const auto* name : {"OMP_NUM_THREADS", "KEYBOARD", "MONKEY", "PATH", "PASSES", "LD_LIBRARY_PATH", "", "PATTERN",
                           "BYPASS_CACHE", "GIT_AUTHOR_NAME"}) {
    INFO(name);
    CHECK_FALSE(looks_secret(name));
  }
}

TEST_CASE("a run shown without secrets keeps the other variables")
{
  RunSpec spec;
  spec.resources.env = {{"API_TOKEN", "abc"}, {"OMP_WAIT_POLICY", "active"}};
  CHECK(without_secrets(spec).resources.env ==
        std::map<std::string, std::string>{{"API_TOKEN", "***"}, {"OMP_WAIT_POLICY", "active"}});
}

TEST_CASE("secrets on a line of a recipe are masked, in every way of writing them")
{
  const auto masked = [](std::string_view text) { return without_secrets(text); };
  CHECK(masked("    API_TOKEN: abc def  # mine\n    OMP: 2\n") == "    API_TOKEN: ***  # mine\n    OMP: 2\n");
  CHECK(masked("env: {API_TOKEN: abc, OMP: 2, \"DB_PASSWORD\": 'a, b'}") ==
        "env: {API_TOKEN: ***, OMP: 2, \"DB_PASSWORD\": ***}");
  CHECK(masked("  - export MY_SECRET=\"x y\" && run") == "  - export MY_SECRET=*** && run");
  CHECK(masked("env:\n  DB_PASSWORD: abc,def}ghi\n  OMP: 2") == "env:\n  DB_PASSWORD: ***\n  OMP: 2");
  CHECK(masked("TOKEN: \"a\\\"b\" # mine") == "TOKEN: *** # mine");
  CHECK(masked("TOKEN: 'ab''cd'") == "TOKEN: ***");
  CHECK(masked("env:\n  API_TOKEN: >-\n    first\n    second\n  OMP: 2") == "env:\n  API_TOKEN: ***\n    ***\n  OMP: 2");
  CHECK(masked("env:\n  API_TOKEN:\n    abc\n  OMP: 2") == "env:\n  API_TOKEN:\n    ***\n  OMP: 2");
  CHECK(masked("env:\n  API_TOKEN: abc\n    def\n  OMP: 2") == "env:\n  API_TOKEN: ***\n    ***\n  OMP: 2");
  CHECK(masked("  - export MY_SECRET=abc,def && run") == "  - export MY_SECRET=*** && run");
  CHECK(masked("train: {seed: 1}\nAPI_TOKEN:") == "train: {seed: 1}\nAPI_TOKEN:");
}

TEST_CASE("how runs differ is told without secrets")
{
  PlannedRun before, now;
  before.spec.resources.env = {{"API_TOKEN", "abc"}};
  now.spec.resources.env = {{"API_TOKEN", "def"}};
  CHECK(differences(before, now) == std::vector<std::string>{"resources.env: API_TOKEN=***, now API_TOKEN=***"});
}
