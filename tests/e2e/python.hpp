// The Python that runs PyTorch scripts in tests.
#pragma once

#include "core/machine/process.hpp"

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

namespace dt::test {

// DTCTL_TEST_PYTHON names another interpreter than Debian's.
inline std::string python()
{
  const char* named = std::getenv("DTCTL_TEST_PYTHON");
  return named != nullptr ? named : "/usr/bin/python3";
}

// Whether it has PyTorch, which it does not import: that alone takes two seconds. Tells that the test is skipped if not.
inline bool has_torch(const std::string& interpreter = python())
{
  if (run_command({interpreter, "-c", "import importlib.util as i; exit(not (i.find_spec('torch') and i.find_spec('numpy')))"})
          .ok())
    return true;
  WARN("SKIPPED: " << interpreter << " has no PyTorch (Debian: python3-torch)");
  return false;
}

// Connects every rank with rank 0, as ranks that train together are.
inline const std::string connects = R"(
import os, socket, time
rank, place = int(os.environ.get("RANK", "0")), (os.environ.get("MASTER_ADDR", ""), int(os.environ.get("MASTER_PORT", "0")))
ranks = int(os.environ.get("WORLD_SIZE", "1"))
connections = []
if ranks > 1 and rank == 0:
    with socket.create_server(("", place[1])) as server:
        while len(connections) < ranks - 1: connections.append(server.accept()[0])
while rank > 0 and not connections:
    try:
        connections.append(socket.create_connection(place))
    except OSError:
        time.sleep(0.01)
)";

} // namespace dt::test
