// Who holds a lock on a database, for messages.
#pragma once

#include <filesystem>
#include <string>

namespace dt::store {

// Returns "process 4711 (dtctl status last), which is stopped" for another process that holds a lock for writing on the database
// or one of its helper files; "another process" if the system does not tell, as on a network file system or in another container.
std::string lock_holder(const std::filesystem::path& database);

} // namespace dt::store
