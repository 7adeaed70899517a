// `async-easgd`: like easgd, but the server serves requests in order of arrival. [You2017, Async EASGD]
#include "engine/sync/strategies/easgd.hpp"

namespace dt::sync {
namespace {

class AsyncEasgd : public Easgd {
 public:
  using Easgd::Easgd;

 protected:
  Request next(std::int64_t /*turn*/) override { return servers().next(); }
};

} // namespace

std::unique_ptr<Strategy> make_async_easgd(const StrategyParts& parts) { return std::make_unique<AsyncEasgd>(parts); }

} // namespace dt::sync
