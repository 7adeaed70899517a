// `async-easgd`: like easgd, but the server serves requests in order of arrival. [You2017, Async EASGD]
#pragma once

#include "engine/sync/strategies/easgd.hpp"

namespace dt::sync {

class AsyncEasgd : public Easgd {
 public:
  using Easgd::Easgd;

 protected:
  Request next(std::int64_t /*turn*/) override { return servers().next(); }
};

} // namespace dt::sync
