// Secrets that are planted in each place that takes text, and looked for in all that dtctl prints, exports and keeps.
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::Words;

namespace {

// Every secret begins like this, and each is in one place.
const std::string mark = "Pw42";

constexpr const char* recipe = R"(version: 1
name: planted
description: 'from http://me:Pw42a@host/x with --api-key Pw42b'
program:
  command: [sh, t.sh, --api-key, Pw42c, '--password=Pw42d', '--db=postgres://u:Pw42e@h/db', 'sh -c "x --token Pw42f"', -u, 'me:Pw42g']
  files: [t.sh]
  parameters: { api_key: Pw42h, url: 'http://u:Pw42i@h' }
  metrics: { step: 'step (\d+)', loss: 'loss (\S+)', samples: '(\S+) images', step_s: 'in (\S+) s' }
train: { warmup_steps: 1 }
resources:
  launch_tries: 1
  env: { MY_TOKEN: Pw42j, PLACE: 'http://u:Pw42k@h', TRAIN_ARGS: '--seed 1 --secret Pw42l' }
  setup: ['export DB_PASSWORD=Pw42m', 'true --api-key "Pw42 n"']
)";

constexpr const char* trains =
    "i=1; while [ $i -le 6 ]; do echo \"step $i: loss 0.$i, 640 images in 0.050 s\"; i=$((i+1)); done\n"
    "echo 'log in with --token Pw42o'\n";
constexpr const char* fails = "echo 'cannot log in with --password Pw42p at http://u:Pw42q@h' >&2; exit 3\n";

void expect_none(const std::string& text, const std::string& where)
{
  const auto found = text.find(mark);
  INFO(where << (found == text.npos ? "" : ": …" + text.substr(found < 80 ? 0 : found - 80, 160)));
  CHECK(found == text.npos);
}

} // namespace

TEST_CASE("no output and no record holds a secret, whatever its form and wherever it was planted")
{
  const Dtctl dtctl;
  const auto is_good = GENERATE(true, false);
  dtctl.write("planted.yaml", recipe);
  dtctl.write("t.sh", is_good ? trains : fails);
  REQUIRE(dtctl.run({"submit", "planted.yaml", "--wait"}).exit_code == (is_good ? 0 : 1));
  REQUIRE(dtctl.run({"note", "last", "see https://me:Pw42r@host, --api-key Pw42s, password: Pw42t"}).ok());
  const auto out = [&](const char* name) { return (dtctl.folder() / name).string(); };
  const auto key = dtctl.json({"status"}).at("runs")[0].at("key").get<std::string>();
  std::vector<Words> verbs{{"sweep", "--dry-run", "planted.yaml", "--scripts"},
                           {"export", "last", "--format", "prometheus", "-o", out("secrets.prom")},
                           {"report", "last", "-o", out("report.html")},
                           {"report", "last", "--format", "markdown", "-o", out("report.md")},
                           {"explain", key},
                           {"show", key}};
  for (const auto* line :
       {"status", "status --all", "results", "results --why", "explain last", "show last", "show last --recipe", "note last",
        "trend throughput", "sweep --dry-run planted.yaml", "validate planted.yaml", "config show", "export last --format csv",
        "export last --format json", "export last --format jsonl"})
    verbs.push_back(dt::split(line, ' '));
  for (const std::string table : {"environment", "runs", "studies", "note_texts"})
    verbs.push_back({"query", "SELECT * FROM " + table});
  for (const auto& verb : verbs)
    for (const bool as_json : {false, true}) {
      auto words = verb;
      if (as_json) words.emplace_back("--json");
      const auto printed = dtctl.run(words);
      INFO(dt::join(words, " ") << "\n" << printed.out << printed.err);
      CHECK(printed.exit_code != 2);
      expect_none(printed.out + printed.err, dt::join(words, " "));
    }
  for (const auto* written : {"secrets.prom", "report.html", "report.md"})
    expect_none(dt::read_file(dtctl.folder() / written), written);
  const dt::AttemptFolder attempt(dtctl.home() / "runs" / key, 1);
  for (const auto& file :
       {dtctl.home() / "results.db", dtctl.home() / "notes.json", attempt.begin(), attempt.result(), attempt.error()})
    expect_none(dt::read_file_if_exists(file).value_or(""), file);
}
