// `async-easgd`: as easgd, but the server serves whoever comes first (easgd-hpc, Async EASGD).
#pragma once

#include "engine/sync/easgd.hpp"

namespace dt::engine {

class AsyncEasgd : public Easgd {
public:
  using Easgd::Easgd;

protected:
  Request next(std::int64_t /*turn*/) override { return servers().next(); }
};

} // namespace dt::engine
