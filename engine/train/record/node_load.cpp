#include "engine/train/record/node_load.hpp"

#include "core/units.hpp"

#include <ctime>

namespace dt::train {

LoadLook look_at_load()
{
  auto look = look_at_machine();
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  look.own_s = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  return look;
}

LoadRecord gather_load(const RankLoad& mine, comm::Communicator& comm)
{
  std::vector<RankLoad> ranks;
  for (const auto& text : comm.gather_texts(to_text(mine))) ranks.push_back(parse_rank_load(text));
  return {now_unix_s(), node_loads(ranks)};
}

} // namespace dt::train
