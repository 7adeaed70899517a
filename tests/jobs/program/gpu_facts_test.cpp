#include "jobs/program/gpu_facts.hpp"

#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::TemporaryFolder;

namespace {

void put(const std::filesystem::path& file, const std::string& text)
{
  make_folders(file.parent_path());
  write_file_atomic(file, text);
}

} // namespace

TEST_CASE("the GPUs of a node and their driver are read from the driver's files")
{
  const TemporaryFolder proc;
  if (!std::filesystem::exists("/dev/nvidiactl")) CHECK(jobs::gpu_facts(proc.path()).empty()); // without a driver
  const auto nvidia = proc.path() / "driver" / "nvidia";
  put(nvidia / "version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build  "
                          "(dvs-builder@U16)\nGCC version: 12.2.0\n");
  for (const auto* bus : {"0000:01:00.0", "0000:02:00.0"})
    put(nvidia / "gpus" / bus / "information", "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 45\n");
  put(nvidia / "gpus" / "0000:03:00.0" / "information", "Model: \t\t NVIDIA A30\n");
  const auto facts = jobs::gpu_facts(proc.path());
  CHECK(facts.at("node_gpus") == "1 x NVIDIA A30, 2 x NVIDIA H100 80GB HBM3");
  CHECK(facts.at("nvidia_driver") == "560.35.03");
}
