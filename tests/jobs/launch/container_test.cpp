// The words that start a container, as the runtimes' manuals have them.
#include "jobs/launch/container.hpp"

#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/text.hpp"
#include "jobs/launch/batch_script.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using Catch::Contains;

namespace {

RunSpec in_container(ContainerRuntime runtime)
{
  RunSpec spec;
  spec.program.command = {"python3", "train.py"};
  spec.program.environment = {"MY_TOKEN"};
  spec.resources.container = {.image = "/images/torch.sif", .runtime = runtime, .mounts = {"/scratch:/scratch", "/models:/m:ro"}};
  spec.resources.env = {{"MY_FLAG", "a secret value"}};
  return spec;
}

const ContainerPlaces places{"/home/me/dtctl", "/data/images", "/home/me/dtctl/runs/k/attempts/1/work"};

std::string line_of(const std::vector<std::string>& words) { return join(words, " "); }

} // namespace

TEST_CASE("apptainer gets the mounts, the folder and the image, and GPUs if the job has some, and the home is mounted with what "
          "lies in it")
{
  auto spec = in_container(ContainerRuntime::apptainer);
  const auto modules = report_modules().string();
  const auto mounts = "--bind /home/me/dtctl:/home/me/dtctl --bind " + modules + ":" + modules +
                      ":ro --bind /data/images:/data/images:ro --bind /scratch:/scratch --bind /models:/m:ro /images/torch.sif";
  CHECK(line_of(container_words(spec, places)) == "apptainer exec --pwd " + places.work + " " + mounts);
  spec.resources.gpus_per_node = 1;
  CHECK(line_of(container_words(spec, places)) == "apptainer exec --pwd " + places.work + " --nv " + mounts);
  CHECK(pyxis_options(spec, places, "/usr/bin/dtjob").empty());
  const auto line = line_of(
      container_words(in_container(ContainerRuntime::apptainer), {"/home/me/dtctl", "/home/me/dtctl/data/digits", places.work}));
  CHECK_THAT(line, !Contains("digits"));
}

TEST_CASE("podman shares network, memory and processes of the node, and gets variables by name and no value")
{
  auto spec = in_container(ContainerRuntime::podman);
  const auto line = line_of(container_words(spec, places));
  CHECK_THAT(line, Catch::StartsWith("podman run --rm --network=host --ipc=host --pid=host --user=0:0 --workdir=" + places.work +
                                     " --volume=/home/me/dtctl:/home/me/dtctl "));
  CHECK_THAT(line, Contains(" --volume=/data/images:/data/images:ro --volume=/scratch:/scratch --volume=/models:/m:ro "));
  for (const auto* name : {"DTCTL_*", "OMPI_*", "PMIX_*", "SLURM_*", "RANK", "MASTER_ADDR", "PYTHONPATH", "MY_FLAG", "MY_TOKEN"})
    CHECK_THAT(line, Contains(std::string(" --env=") + name + " "));
  CHECK_THAT(line, !Contains("a secret value"));
  CHECK_THAT(line, Catch::EndsWith(" /images/torch.sif"));
  CHECK_THAT(line, !Contains("nvidia.com/gpu"));
  spec.resources.gpus_per_node = 2;
  CHECK_THAT(line_of(container_words(spec, places)), Contains(" --device=nvidia.com/gpu=all "));
}

TEST_CASE("pyxis is options of srun, and dtjob is mounted because it runs in the container")
{
  PlannedRun run;
  run.key = "0123456789abcdef0123456789abcdef";
  run.spec = in_container(ContainerRuntime::pyxis);
  run.spec.resources.launcher = "srun";
  CHECK(container_words(run.spec, places).empty());
  const AttemptFolder attempt("/home/me/dtctl/runs/" + run.key, 1);
  const auto script = batch_script({run, attempt, "/usr/bin/dtengine", "/data/images", "/opt/dtctl/bin/dtjob", "/home/me/dtctl"},
                                   *make_launcher("srun"));
  const auto modules = report_modules().string();
  CHECK_THAT(script,
             Contains(" '--container-image=/images/torch.sif' '--container-mounts=/home/me/dtctl:/home/me/dtctl," + modules +
                      ":" + modules +
                      ":ro,/data/images:/data/images:ro,/scratch:/scratch,/models:/m:ro,/opt/dtctl/bin:/opt/dtctl/bin:ro' "
                      "--no-container-mount-home '--container-env=MY_FLAG' /opt/dtctl/bin/dtjob bind "));
}

TEST_CASE("the digest of an image is that in its name, or a hash of the file, which another file does not have")
{
  const auto digest = [](const std::string& image) {
    auto spec = in_container(ContainerRuntime::apptainer);
    spec.resources.container.image = image;
    return container_facts(spec).at("container_digest");
  };
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "torch.sif").string();
  CHECK(digest("docker://torch@sha256:0123") == "sha256:0123");
  CHECK_THAT(digest("docker://torch:latest"), Catch::StartsWith("unknown: "));
  replace_file(file, std::string(3 << 20, 'a'));
  const auto before = digest(file);
  CHECK_THAT(before, Catch::StartsWith("file-"));
  CHECK(digest(file) == before);
  replace_file(file, std::string((3 << 20) - 1, 'a') + "b");
  CHECK(digest(file) != before);
  CHECK(container_facts(RunSpec()).empty());
}
