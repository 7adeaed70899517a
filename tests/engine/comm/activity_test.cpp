// What a rank says about itself.
#include "engine/comm/activity.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace dt::comm;

TEST_CASE("a rank works until it says that it waits, and for whom")
{
  Activity activity;
  CHECK(activity.occupation().doing == Doing::works);
  CHECK(activity.what() == std::string("starts"));
  activity.enter(Doing::waits, "has sent its part and expects another", 3);
  CHECK(activity.occupation().doing == Doing::waits); // whatever its words are
  CHECK(activity.occupation().peer == 3);
  activity.enter(Doing::works, "waits no more");
  CHECK(activity.occupation().doing == Doing::works);
  CHECK(activity.occupation().peer == -1);
  CHECK(activity.what() == std::string("waits no more"));
}
