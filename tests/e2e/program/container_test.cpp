// Programs in containers (resources.container), with shell scripts in place of the runtimes: each checks its options, does what
// the options say as far as a script can, and executes the command.
#include "tests/e2e/own_program.hpp"

#include "core/files/file.hpp"

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Json;
using dt::test::Own;

namespace {

// `env -i` keeps from the program what the runtime was not told to pass on.
constexpr const char* podman_script = R"sh(#!/bin/bash
[ "$1 $2" = "image inspect" ] && echo sha256:feed && exit
echo "$*" >> "$RECORD"
[ "$1" = run ] || exit 9
shift
kept=()
while [[ $1 == --* ]]; do
  case $1 in
    --env=*)
      name=${1#--env=}
      for variable in $(compgen -e); do [[ $variable == $name ]] && kept+=("$variable=${!variable}"); done ;;
    --workdir=*) cd "${1#*=}" || exit 8 ;;
  esac
  shift
done
[ "$1" = localhost/torch ] || exit 7
shift
exec env -i PATH="$PATH" "${kept[@]}" "$@"
)sh";

constexpr const char* apptainer_script = R"sh(#!/bin/bash
echo "$*" >> "$RECORD"
[ "$1" = exec ] || exit 9
shift
while [[ $1 == --* ]]; do
  case $1 in
    --pwd) cd "$2" || exit 8; shift ;;
    --bind) [ -e "${2%%:*}" ] || exit 6; shift ;;
  esac
  shift
done
[ "$1" = docker://torch@sha256:beef ] || exit 7
shift
exec "$@"
)sh";

// Starts the tasks as srun does, and checks that they would be in a container.
constexpr const char* srun_script = R"sh(#!/bin/bash
echo "$*" >> "$RECORD"
image=
while [[ $1 == --* ]]; do
  case $1 in
    --ntasks=*) tasks=${1#*=} ;;
    --container-image=*) image=${1#*=} ;;
  esac
  shift
done
[ "$image" = /images/torch.sqsh ] || exit 7
for ((i = 0; i < tasks; ++i)); do SLURM_PROCID=$i SLURM_LOCALID=$i "$@" & ended+=($!); done
for process in "${ended[@]}"; do wait "$process" || exit; done
)sh";

// A home whose jobs find this script as a program of that name.
struct Shimmed {
  Own own;
  Shimmed(const std::string& name, const char* script, const std::string& container, const std::string& source, int ranks = 2)
      : own(source, "")
  {
    const auto bin = own.dtctl.folder() / "bin";
    std::filesystem::create_directory(bin);
    own.dtctl.write("bin/" + name, script);
    std::filesystem::permissions(bin / name, std::filesystem::perms::owner_all);
    own.dtctl.write("own.yaml", dt::test::recipe("resources:\n  ranks_per_node: " + std::to_string(ranks) + "\n  env: {PATH: '" +
                                                 bin.string() + ":" + std::getenv("PATH") + "', RECORD: '" + record().string() +
                                                 "', MY_FLAG: seen}\n" + container));
  }
  std::filesystem::path record() const { return own.dtctl.folder() / "record"; }
  std::string recorded() const { return dt::read_file_if_exists(record()).value_or(""); }
  dt::RunResult result() const { return dt::test::result_of(own); }
  std::string fact(const std::string& name) const
  {
    const auto begin = dt::read_begin(own.attempt());
    return begin && begin->environment.contains(name) ? begin->environment.at(name) : "none";
  }
};

const std::string checked_trainer =
    dt::test::trainer("assert os.environ['MY_FLAG'] == 'seen' and os.environ['RANK'] in '01' and os.environ['DTCTL_RUN_KEY']\n"
                      "assert os.path.exists('train.py')");

} // namespace

TEST_CASE("apptainer runs the command of every rank in the image, with the home mounted, and the facts name the image")
{
  const Shimmed run("apptainer", apptainer_script,
                    "  container: {image: 'docker://torch@sha256:beef', mounts: ['/usr:/mnt/usr:ro']}\n", checked_trainer);
  const auto result = run.result();
  CHECK(result.ranks.size() == 2);
  CHECK(result.measured_samples > 0);
  const auto home = run.own.dtctl.home().string();
  CHECK_THAT(run.recorded(), Contains("--bind " + home + ":" + home + " ") && Contains("--bind /usr:/mnt/usr:ro ") &&
                                 Contains(" docker://torch@sha256:beef python3 train.py\n"));
  CHECK_THAT(run.recorded(), !Contains("--nv"));
  CHECK(run.fact("container_image") == "docker://torch@sha256:beef");
  CHECK(run.fact("container_runtime") == "apptainer");
  CHECK(run.fact("container_digest") == "sha256:beef");
}

TEST_CASE("podman passes on the variables that a rank needs, and knows the digest of its image")
{
  const Shimmed run("podman", podman_script, "  container: {image: localhost/torch, runtime: podman}\n", checked_trainer);
  CHECK(run.result().ranks.size() == 2);
  CHECK(run.fact("container_digest") == "sha256:feed");
}

TEST_CASE("with pyxis srun starts dtjob in the container")
{
  const Shimmed run("srun", srun_script, "  launcher: srun\n  container: {image: /images/torch.sqsh, runtime: pyxis}\n",
                    checked_trainer);
  CHECK(run.result().ranks.size() == 2);
  CHECK_THAT(run.recorded(), Contains(" --container-image=/images/torch.sqsh ") && Contains("/dtjob bind "));
}

TEST_CASE("another image is another run, and an image that is not there is told before the submission or by the run's cause")
{
  const Shimmed run("apptainer", apptainer_script, "  container: {image: 'docker://torch@sha256:beef'}\n", checked_trainer);
  const auto key = [&](const std::string& image) -> std::string {
    return run.own.dtctl.json({"sweep", "--dry-run", "own.yaml", "--set", "resources.container.image=" + image})
        .at("runs")[0]
        .at("key");
  };
  CHECK(key("docker://torch@sha256:beef") != key("docker://torch@sha256:dead"));
  CHECK(run.own.dtctl.json({"submit", "own.yaml", "--wait", "--set", "resources.container.image=docker://other"}).at("states") ==
        Json{{"failed", 1}});
  CHECK_THAT(run.own.cause(), Contains("exit code 7"));
  const auto refused = run.own.dtctl.run(
      {"validate", "own.yaml", "--set", "resources.container.runtime=podman", "--set", "resources.env.PATH=/nowhere"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err + refused.out, Contains("there is no program podman in PATH"));
}
