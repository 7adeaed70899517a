/* The strategies of dtctl for training programs: a C interface, which other languages can call too. libdtctl_sync.so has the functions.
 *
 * A training of one rank, in the order of its calls:
 *
 *     dtctl_sync *sync;
 *     dtctl_sync_open("sync.strategy=decentralized-easgd sync.period=4", &sync);
 *     dtctl_sync_layout(sync, tensors, lengths, begins, &floats);      // then allocate weights and gradients
 *     dtctl_sync_start(sync, "a description of the model", weights, gradients, &callbacks);
 *     for (…) dtctl_sync_step(sync, learning_rate, epoch, &loss);      // on every rank equally often, on servers too
 *     dtctl_sync_finish(sync);
 *     dtctl_sync_close(sync);
 *
 * Every function returns 0, or -1 if it failed: then dtctl_sync_error() says why. "Collective": all ranks must call it, in the
 * same order. One thread at a time may call the functions of a training; the thread in dtctl_sync_step() counts as calling,
 * except while a callback runs.
 *
 * MPI is begun by dtctl_sync_open() with MPI_THREAD_SERIALIZED, unless the program has begun it before, with that level or a
 * higher one. Start the program with mpirun or srun; without them it has one rank.
 *
 * libdtctl_sync_torch.so has the same functions and needs no MPI: its ranks exchange over TCP, whoever has started them. Before
 * dtctl_sync_open() each calls dtctl_sync_listen(), tells the others its address, and calls dtctl_sync_join().
 */
#ifndef DTCTL_SYNC_H
#define DTCTL_SYNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dtctl_sync dtctl_sync;

enum { DTCTL_SYNC_WEIGHTS = 0, DTCTL_SYNC_GRADIENTS = 1 };

/* What the program does in a step. A function returns 0, or another number if it failed: then dtctl_sync_step() fails. */
typedef struct dtctl_sync_callbacks {
  void *context; /* the first argument of every function */
  /* Forward and backward pass over this rank's next batch. Writes the mean loss over the batch (NaN if it is not known) and its
   * number of samples. If `announce` is not 0, the function calls dtctl_sync_gradient() for each tensor whose gradient is final in
   * the gradients' buffer; tensors that it does not announce are final when it returns. */
  int (*compute)(void *context, int announce, double *mean_loss, int64_t *samples);
  /* W <- rule(W, factor x gradients) for all tensors, with the program's own update rule. `changed` is not 0 if the gradients are
   * those that were stored since `compute`, sums over ranks; else they are those that `compute` has found. */
  int (*update)(void *context, int changed, float factor);
  /* For a program that keeps weights and gradients elsewhere, for example on a GPU; else null. `what`: DTCTL_SYNC_WEIGHTS,
   * DTCTL_SYNC_GRADIENTS, or the number of a vector from `make`. `fetch` copies floats [begin, end) from there into the buffer in
   * the host's memory that dtctl_sync_start() or `make` was given; it has ended when it returns. `store` copies them back, at the
   * latest before `update`, `combine` or the next `compute` uses them. Both are called only when a strategy needs the floats, or
   * has changed them. */
  int (*fetch)(void *context, int what, size_t begin, size_t end);
  int (*store)(void *context, int what, size_t begin, size_t end);
  /* For a program that also does the strategy's arithmetic there; else null, and the host does it. `make` makes a vector number
   * `what` (2, 3, ...) equal to the floats at `host`, which stay there until dtctl_sync_close(). `combine`: for floats [begin, end)
   * y <- a y + b x + c z. y, x, z: numbers as above; z is -1 for none; x may be y. */
  int (*make)(void *context, int what, float *host, size_t floats);
  int (*combine)(void *context, int y, float a, int x, float b, int z, float c, size_t begin, size_t end);
  /* For a program whose device also sums over the ranks, such as a GPU with NCCL; else null, and the sums go through the host's memory.
   * All ranks must give it, or none. Floats [begin, end) of vector `what` <- their sum over these ranks, of which this one is one; none:
   * over all. It may return before the sum is complete; what the device does behind it uses the sums. */
  int (*sum)(void *context, int what, size_t begin, size_t end, const int *ranks, size_t count);
} dtctl_sync_callbacks;

/* Only in libdtctl_sync_torch.so. The port at which this process waits for the other ranks. */
int dtctl_sync_listen(int *port);
/* Only in libdtctl_sync_torch.so. Connects all ranks with each other. addresses: "host:port" of every rank, in their order, separated
 * by blanks. secret: at most 32 characters that all ranks give and nobody else knows; a connection without it is refused. Fails if a
 * rank is not reached within a minute. Collective. */
int dtctl_sync_join(int rank, const char *addresses, const char *secret);

/* settings: "key=value" separated by blanks or line feeds; the keys of a recipe: sync.strategy, sync.period, sync.allreduce,
 * optimizer.momentum, … In a run of dtctl whose recipe has a block `sync` the recipe's values count, and `settings` is not read.
 * Collective. */
int dtctl_sync_open(const char *settings, dtctl_sync **sync);
/* What a call of this thread that returned -1 says about it, in one sentence or more. Valid until the next call. */
const char *dtctl_sync_error(void);

typedef struct dtctl_sync_place {
  int rank, ranks;
  int local_rank;      /* among the ranks of this host */
  int worker, workers; /* worker: -1 on a parameter server, which has no batches */
} dtctl_sync_place;
int dtctl_sync_get_place(const dtctl_sync *sync, dtctl_sync_place *place);
/* The value of a recipe's key as text, for example of "sync.strategy". Valid until the next call of this function. */
int dtctl_sync_setting(dtctl_sync *sync, const char *key, const char **value);

/* Where each tensor begins in the packed buffers, in floats from their start, and how long the buffers are. lengths: numbers of
 * each tensor, the first layer's first. The buffers begin at a multiple of 64 bytes. */
int dtctl_sync_layout(dtctl_sync *sync, size_t tensors, const size_t *lengths, size_t *begins, size_t *floats);
/* Gives all workers the weights of rank 0. `weights` and `gradients` belong to the program and must stay until
 * dtctl_sync_close(). Padding between tensors must be 0. `model` describes the model; fails if the ranks give different
 * texts or lengths. Collective. */
int dtctl_sync_start(dtctl_sync *sync, const char *model, float *weights, float *gradients, const dtctl_sync_callbacks *callbacks);

/* One step of the strategy. It calls the callbacks in the strategy's order, in the calling thread. A server serves as many
 * exchanges as all workers make in one step, and calls none of compute and update. loss: mean loss over all workers if the
 * strategy sums gradients, and not on the device; else over this rank's batch; NaN on a server. After a failure no further step
 * can be made. */
int dtctl_sync_step(dtctl_sync *sync, double learning_rate, double epoch, double *loss);
/* Within `compute`: the gradient of this tensor is final. Any order; each tensor at most once. */
int dtctl_sync_gradient(dtctl_sync *sync, size_t tensor);
/* Within `compute`, before dtctl_sync_gradient(): this rank has no gradient of the tensor in this step. Its floats in the gradients'
 * buffer must be 0. */
int dtctl_sync_absent(dtctl_sync *sync, size_t tensor);
/* Within `update`, if `changed` is not 0: writes the numbers of the tensors of which no rank has a gradient, and how many these are.
 * A rule should leave them as they are. `tensors` has room for all. */
int dtctl_sync_all_absent(dtctl_sync *sync, size_t *tensors, size_t *count);

typedef struct dtctl_sync_times {
  double communication_s; /* in which this rank only waited for others in its last step, or moved messages on */
  double in_compute_s;    /* the part of it within `compute` */
  double update_s;        /* in `update` and in the strategy's own arithmetic */
} dtctl_sync_times;
int dtctl_sync_get_times(const dtctl_sync *sync, dtctl_sync_times *times);

/* values <- mean over all ranks, by the recipe's allreduce and in its wire format; for a program that decides itself when gradients
 * are summed. Needs no dtctl_sync_start(). Only for strategies that keep all ranks equal. Collective. */
int dtctl_sync_average(dtctl_sync *sync, float *values, size_t count);
/* values <- those of rank 0. Not counted as traffic. Collective. */
int dtctl_sync_broadcast(dtctl_sync *sync, float *values, size_t count);
/* values <- mean over the workers; servers contribute nothing. Not counted as traffic. Collective. */
int dtctl_sync_mean(dtctl_sync *sync, float *values, size_t count);
/* Every rank's values in rank order, `count` of each. Not counted as traffic. Collective. */
int dtctl_sync_gather(dtctl_sync *sync, const double *values, size_t count, double *all);
/* Whether all ranks have the same weights between two steps, under this strategy. Call it after dtctl_sync_start(). */
int dtctl_sync_keeps_equal(dtctl_sync *sync, int *keeps);
/* Copies the weights that evaluations use to `weights`, as long as the packed buffer: the centre, where the strategy has one;
 * else the mean of the workers' weights, where they differ. Between two steps. Collective. */
int dtctl_sync_evaluated(dtctl_sync *sync, float *weights);

/* The strategy's own buffer number `index` between two steps, for checkpoints; each rank stores its own. After the last one the
 * call writes a null pointer to `values`. The buffer may be read and overwritten. */
int dtctl_sync_state(dtctl_sync *sync, size_t index, const char **name, float **values, size_t *count);
/* The training goes on after this many steps. Call it when weights and states are restored. */
int dtctl_sync_resume(dtctl_sync *sync, int64_t step);

/* Adds a phase of the program to this rank's timeline ("forward", "backward", "input", "step"), if this is a run of dtctl whose recipe
 * has train.trace; else it does nothing. Times in seconds of CLOCK_MONOTONIC. */
int dtctl_sync_span(dtctl_sync *sync, const char *name, int64_t step, double begin_s, double end_s);

/* The training has reached its end: in a run of dtctl, traffic, staleness, buckets and what else the strategy has measured are
 * added to the run's record. Collective. */
int dtctl_sync_finish(dtctl_sync *sync);
/* Ends the training; with the last one, ends MPI if dtctl_sync_open() began it. A null pointer is no error. Collective. */
int dtctl_sync_close(dtctl_sync *sync);
/* Ends the processes of all ranks at once with exit code 1. Does not return. */
void dtctl_sync_abort(void);

#ifdef __cplusplus
}
#endif

#endif
