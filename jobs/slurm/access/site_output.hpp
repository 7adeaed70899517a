// The site as scontrol and sacctmgr print it. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// Of `scontrol show config`.
SlurmSite read_site(std::string_view text);
// Of `scontrol --oneliner show partition`, `… node` and `… reservation`.
std::vector<SlurmPartition> read_partitions(std::string_view text);
std::vector<SlurmNode> read_nodes(std::string_view text);
std::vector<SlurmReservation> read_reservations(std::string_view text);
// Of `sacctmgr --parsable2 --noheader show user … withassoc format=DefaultAccount,Account,Cluster`: the accounts on this cluster,
// the default one first.
std::vector<std::string> read_accounts(std::string_view text, const std::string& cluster);
// Of `scontrol ping`: the machines of the controllers, and whether one of them is up.
std::vector<std::string> read_controllers(std::string_view text);
bool is_any_up(std::string_view text);
// "22.05" of "slurm-wlm 22.05.8", as `scontrol --version` prints; empty if there is no such number.
std::string read_release(std::string_view text);

} // namespace dt::jobs::slurm
