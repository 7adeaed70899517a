/* Two ranks find the mean of their targets: w <- w - rate (w - target), under the strategy that the first argument names. */
#include "dtctl_sync.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 64
static float weights[LENGTH] __attribute__((aligned(64))), gradients[LENGTH] __attribute__((aligned(64)));
static float target;

static int compute(void *context, int announce, double *mean_loss, int64_t *samples)
{
  for (int i = 0; i < 20; ++i) gradients[i] = weights[i] - target;
  if (announce && dtctl_sync_gradient(context, 0) != 0) return 1;
  *mean_loss = 0.5 * (weights[0] - target) * (weights[0] - target);
  *samples = 1;
  return 0;
}

static int update(void *context, int changed, float factor)
{
  (void)context, (void)changed;
  for (int i = 0; i < 20; ++i) weights[i] -= 0.25F * factor * gradients[i];
  return 0;
}

#define REQUIRE(call) \
  if ((call) != 0) return fprintf(stderr, "%s: %s\n", #call, dtctl_sync_error()), 1

int main(int argc, char **argv)
{
  dtctl_sync *sync = NULL;
  dtctl_sync_place place;
  size_t length = 20, begin = 99, floats = 0;
  double loss = 0;
  if (argc != 2) return 2;
  REQUIRE(dtctl_sync_open(argv[1], &sync));
  REQUIRE(dtctl_sync_get_place(sync, &place));
  REQUIRE(dtctl_sync_layout(sync, 1, &length, &begin, &floats));
  if (begin != 0 || floats != 32) return fprintf(stderr, "begin %zu, floats %zu\n", begin, floats), 1;
  target = 1.0F + (float)place.rank;
  dtctl_sync_callbacks callbacks = {.context = sync, .compute = compute, .update = update};
  REQUIRE(dtctl_sync_start(sync, "twenty numbers", weights, gradients, &callbacks));
  for (int step = 0; step < 60; ++step) REQUIRE(dtctl_sync_step(sync, 0.25, 0, &loss));
  REQUIRE(dtctl_sync_evaluated(sync, weights));
  REQUIRE(dtctl_sync_finish(sync));
  const double mean = (place.ranks + 1) / 2.0;
  if (fabs(weights[7] - mean) > 1e-3) return fprintf(stderr, "found %f, not %f\n", weights[7], mean), 1;
  REQUIRE(dtctl_sync_close(sync));
  return 0;
}
