// The transports that Open MPI uses in a job on one node.
#include "jobs/launch/transports.hpp"

#include <catch2/catch.hpp>

using namespace dt::jobs;

namespace {

using Variables = std::map<std::string, std::string>;

bool nothing_is_set(const std::string&) { return false; }

} // namespace

TEST_CASE("a job on one node uses shared memory and looks for no network card")
{
  CHECK(transports_on_one_node({"mpirun", "-np", "2"}, nothing_is_set) ==
        Variables{{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,vader"}});
}

TEST_CASE("transports that the user chooses are left as they are")
{
  using Words = std::vector<std::string>;
  for (const auto& words : {Words{"mpirun", "--mca", "btl", "self,tcp"}, Words{"mpirun", "-mca", "pml", "ucx"},
                            Words{"mpirun", "--mca", "mtl", "psm2"}, Words{"mpirun", "--tune", "site.conf"}})
    CHECK(transports_on_one_node(words, nothing_is_set).empty());
  for (const std::string chosen : {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl"})
    CHECK(transports_on_one_node({"mpirun"}, [&](const std::string& name) { return name == chosen; }).empty());
}

TEST_CASE("other parameters of Open MPI do not count as a choice of transports")
{
  CHECK(transports_on_one_node({"mpirun", "--mca", "btl_tcp_if_include", "ib0"}, nothing_is_set).size() == 2);
  CHECK(transports_on_one_node({"mpirun"}, [](const std::string& name) {
          return name == "OMPI_MCA_btl_vader_eager_limit";
        }).size() == 2);
}
