// The functions of dtctl_sync.h that a program without MPI calls first.
#include "engine/bindings/dtctl_sync.h"
#include "engine/bindings/guarded.hpp"
#include "engine/sockets/world.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string>

int dtctl_sync_listen(int* port)
{
  return dt::bindings::guarded([&] { *port = dt::sockets::listen(); });
}

int dtctl_sync_join(int rank, const char* addresses, const char* secret)
{
  return dt::bindings::guarded([&] {
    dt::sockets::Token token{};
    const std::string words(secret);
    std::copy_n(words.begin(), std::min(words.size(), token.size()), token.begin());
    dt::sockets::join(rank, dt::split(addresses, ' '), token);
  });
}
