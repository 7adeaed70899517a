#include "core/spec/secrets.hpp"

#include "core/spec/run_key.hpp"
#include "tests/core/sample_spec.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("variables with names of secrets are told from others")
{
  const std::vector<std::vector<const char*>> secrets{
      {"API_TOKEN", "aws_secret_access_key", "GITHUB_PAT", "SSH_KEY", "KEY", "GOOGLE_APPLICATION_CREDENTIALS", "WANDB_API_KEY",
       "HTTP_AUTHORIZATION", "--api-token"},
      {"DB_PASSWORD", "MyPassword", "DB_PASS", "SSHPASS", "PGPASS"},
      {"SESSION_COOKIE", "BEARER", "DSN", "SENTRY_DSN", "JWT", "AZURE_STORAGE_CONNECTION_STRING"}};
  for (const auto& kind : secrets)
    for (const auto* name : kind) {
      INFO(name);
      CHECK(looks_secret(name));
    }
  for (const auto* name :
       {"OMP_NUM_THREADS", "KEYBOARD", "MONKEY", "PATH", "PASSES", "LD_LIBRARY_PATH", "", "PATTERN", "BYPASS_CACHE",
        "GIT_AUTHOR_NAME", "MAX_TOKENS", "tokenizer", "TOKENIZERS_PARALLELISM", "PWD", "num_key_value_heads"}) {
    INFO(name);
    CHECK_FALSE(looks_secret(name));
  }
}

TEST_CASE("a run and the differences between two runs are shown without secrets and with all other variables")
{
  RunSpec spec;
  spec.resources.env = {{"API_TOKEN", "abc"}, {"OMP_WAIT_POLICY", "active"}};
  CHECK(without_secrets(spec).resources.env ==
        std::map<std::string, std::string>{{"API_TOKEN", "***"}, {"OMP_WAIT_POLICY", "active"}});
  PlannedRun before, now;
  before.spec.resources.env = {{"API_TOKEN", "abc"}};
  now.spec.resources.env = {{"API_TOKEN", "def"}};
  CHECK(differences(before, now) == std::vector<std::string>{"resources.env: API_TOKEN=***, now API_TOKEN=***"});
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

namespace {

// Of the kinds that services give out; none of them was ever valid.
const std::string random_text = "q7Rw2LkZ9xVb4NcT8mHs", github = "ghp_0123456789abcdefghijABCDEFGHIJ456789",
                  web_token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fw",
                  hexadecimal(40, 'a'), base64 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY12";

} // namespace

TEST_CASE("a value that is a secret by its look is masked whatever its name is, and the rest of it stays")
{
  const auto masked = [](std::string_view value) { return without_secrets("SETTING", value); };
  CHECK(masked("postgres://u:pw@h:5432/db") == "postgres://***@h:5432/db");
  CHECK(masked("postgres://u:p/w@h/db") == "postgres://***@h/db");
  CHECK(masked("redis://:pw@h") == "redis://***@h");
  CHECK(masked("https://" + github + "@github.com/a/b") == "https://***@github.com/a/b");
  CHECK(masked(random_text) == "***");
  CHECK(masked(github) == "***");
  CHECK(masked(web_token) == "***");
  CHECK(masked(base64) == "***");
  CHECK(masked("0123456789abcdef0123456789abcdef") == "***");
  CHECK(masked("Bearer abc123defg") == "Bearer ***");
  CHECK(masked("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\n") == "***\n");
  CHECK(masked("-----BEGIN PRIVATE KEY-----\nMIIE") == "***");
  CHECK(masked("user=me;password=hunter2") == "user=me;password=***");
}

TEST_CASE("values that are no secrets stay as they are")
{
  for (const std::string value :
       {"active", "ssh://git@github.com/a/b.git", "http://host:8080/path", "http://host:8080/a@b",
        "/data/ImageNet2012/train/images", "ResNet50ImageNetBatch256Epochs90", "GPU-5f6a1f0e-8a0c-1c9d-7a55-0c3d2b1a9e8f",
        "resnet50-imagenet-bs256-lr01", "3f2a91", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "basic training", "0,1,2,3,4,5,6,7,8,9,10,11,12"}) {
    INFO(value);
    CHECK(without_secrets("SETTING", value) == value);
  }
  // Long strings under names that are known to be harmless, and under names in small letters, where hashes stand.
  CHECK(without_secrets("SLURM_CONF_HASH", random_text) == random_text);
  CHECK(without_secrets("commit", "0123456789abcdef0123456789abcdef01234567") == "0123456789abcdef0123456789abcdef01234567");
  CHECK(without_secrets("PATH", "/opt/" + github) == "/opt/" + github);
}

TEST_CASE("texts lose the secrets in them and keep their hashes")
{
  const auto masked = [](std::string_view text) { return without_secrets(text); };
  CHECK(masked("the commit 0123456789abcdef0123456789abcdef01234567 of run: 0123456789abcdef0123456789abcdef") ==
        "the commit 0123456789abcdef0123456789abcdef01234567 of run: 0123456789abcdef0123456789abcdef");
  CHECK(masked("RuntimeError: unexpected key: seed") == "RuntimeError: unexpected key: seed");
  CHECK(masked("the password: hunter2") == "the password: ***");
  CHECK(masked("  env: {DATABASE_URL: 'postgres://u:pw@h', SEED: 1}") == "  env: {DATABASE_URL: 'postgres://***@h', SEED: 1}");
  CHECK(masked("setup: [\"curl -H 'Authorization: Bearer abc123defg'\"]") == "setup: [\"curl -H 'Authorization: ***");
  CHECK(masked("env:\n  CERT: |\n    -----BEGIN PRIVATE KEY-----\n    MIIE\n    -----END PRIVATE KEY-----\n  OMP: 2") ==
        "env:\n  CERT: |\n    ***\n  OMP: 2");
}

TEST_CASE("values of options are masked in every text that holds a command")
{
  const auto masked = [](std::string_view text) { return without_secrets(text); };
  CHECK(masked("sh t.sh --api-key hunter2 --seed 1") == "sh t.sh --api-key *** --seed 1");
  CHECK(masked("sh t.sh --password=hunter2 --seed 1") == "sh t.sh --password=*** --seed 1");
  CHECK(masked("t --db-password 'a b' --x \"c\"") == "t --db-password '***' --x \"c\"");
  CHECK(masked("command: [sh, t.sh, --api-key, hunter 2, --seed, 1]") == "command: [sh, t.sh, --api-key, ***, --seed, 1]");
  CHECK(masked("command: ['sh', '--api-key', 'hunter2', \"--pw\", \"a\\\"b\"]") ==
        "command: ['sh', '--api-key', '***', \"--pw\", \"***\"]");
  CHECK(masked("[\"sh\",\"--hf_token\",\"hunter2\"]") == "[\"sh\",\"--hf_token\",\"***\"]");
  CHECK(masked("command:\n  - sh\n  - --api-key\n  - hunter 2\n  - --seed") ==
        "command:\n  - sh\n  - --api-key\n  - ***\n  - --seed");
  CHECK(masked("command:\n  - '--api-key'\n  - \"hunter 2\"\n") == "command:\n  - '--api-key'\n  - \"***\"\n");
  CHECK(masked("[sh, --api-key,\n  hunter2]") == "[sh, --api-key,\n  ***]");
  CHECK(masked("train \\\n  --api-key \\\n    hunter2 \\\n  --seed 1") == "train \\\n  --api-key \\\n    *** \\\n  --seed 1");
  CHECK(masked("bash -c \"train --token hunter2\"") == "bash -c \"train --token ***\"");
  CHECK(masked("curl -u me:hunter2 http://h") == "curl -u *** http://h");
  CHECK(masked("curl --proxy-user me:hunter2 x; docker run -u 1000:1000 y") ==
        "curl --proxy-user *** x; docker run -u 1000:1000 y");
  CHECK(masked("curl -H 'X-Api-Key: hunter2'") == "curl -H 'X-Api-Key: ***");
  CHECK(masked("see http://me:hunter2@h/x") == "see http://***@h/x");
  for (const std::string_view text :
       {"train --tokenizer gpt2 --max-tokens 512 --num-key-value-heads 8", "--auth --seed 1", "a --token", "- --token\nnext: 1",
        "rank 1 - key to the run", "x-token y", "step 1 --- loss 0.5"})
    CHECK(masked(text) == text);
  CHECK(without_secrets("program", "sh t.sh --api-key hunter2") == "sh t.sh --api-key ***");
  CHECK(without_secrets("OMPI_ARGV", "t.sh --api-key hunter2 --pw=x") == "t.sh --api-key *** --pw=***");
  CHECK(without_secrets("PATH", "/opt/secrets:/opt/token:/bin") == "/opt/secrets:/opt/token:/bin");
  CHECK(without_secrets(std::string_view(masked("t --api-key hunter2 -u a:b"))) == "t --api-key *** -u ***");
}

TEST_CASE("a spec without secrets has none in its commands, lists and texts")
{
  RunSpec spec;
  spec.program.command = {"python3", "train.py", "--api-token", "hunter2", "--db=postgres://u:pw@h", "--password=hunter2",
                          "--seed",  "1"};
  spec.resources.setup = {"export SSHPASS=hunter2", "module load gcc"};
  spec.resources.env = {{"BEARER", "hunter2"}, {"FOO", random_text}};
  spec.program.parameters = {{"url", "http://u:pw@h"}, {"max_tokens", "512"}};
  const auto shown = without_secrets(spec);
  CHECK(shown.program.command == std::vector<std::string>{"python3", "train.py", "--api-token", "***", "--db=postgres://***@h",
                                                          "--password=***", "--seed", "1"});
  CHECK(shown.resources.setup == std::vector<std::string>{"export SSHPASS=***", "module load gcc"});
  CHECK(shown.resources.env == std::map<std::string, std::string>{{"BEARER", "***"}, {"FOO", "***"}});
  CHECK(shown.program.parameters == std::map<std::string, std::string>{{"max_tokens", "512"}, {"url", "http://***@h"}});
}
