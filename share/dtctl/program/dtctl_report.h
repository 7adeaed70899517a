/* Reports the figures of a training to dtctl, from C or C++. One file, without dependencies; POSIX.
 *
 *   #include <dtctl_report.h>                     include path: <prefix>/share/dtctl/program
 *
 *   dtctl_report_begin(0);                        just before the first step
 *   for (...) {
 *     double begin = dtctl_report_clock();
 *     ...
 *     dtctl_report_phase(DTCTL_FORWARD, dtctl_report_clock() - begin);
 *     dtctl_report_schedule(learning_rate, epoch);  may be left out
 *     dtctl_report_step(loss, samples);           on every rank, with the samples of this rank
 *   }
 *   dtctl_report_evaluation(accuracy, loss, samples);   accuracy between 0 and 1
 *   dtctl_report_parameters(parameters);          may be left out
 *   dtctl_report_result();                        at the end; without it the run has failed. Only that of rank 0 counts
 *
 * What is not known is DTCTL_UNKNOWN. Give a loss as it is: if it is NaN or infinite at the end, dtctl marks the run as diverged.
 * Include the file in one source file of a program: its state is per source file. Calls from
 * several threads at once are allowed. In a process that dtctl has not started, all functions do nothing.
 * With -std=c99 or c11, include it before all other files or define _POSIX_C_SOURCE as 200809L; -std=gnu11 and C++ need nothing.
 * All functions return 0; -1 if the report could not be written (errno says why) or a value is impossible (EINVAL). The line is
 * then lost, but the report goes on with the next one.
 */
#ifndef DTCTL_REPORT_H
#define DTCTL_REPORT_H

#if defined(__STRICT_ANSI__) && !defined(__cplusplus) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* for clock_gettime and O_CLOEXEC */
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DTCTL_UNKNOWN (-1.7976931348623157e+308) /* not NaN: that is the loss of a training that diverged */

enum dtctl_phase { DTCTL_INPUT, DTCTL_FORWARD, DTCTL_BACKWARD, DTCTL_COMMUNICATION, DTCTL_OPTIMIZER };
enum { dtctl_phases = 5 };

struct dtctl_report_state {
  int lock, file, is_open, has_mark;
  int is_torn; /* the file ends in half a line */
  long long step;
  double mark; /* when the last begin, step or evaluation ended */
  double phase_s[5];
  int has_phase[5];
  double learning_rate, epoch; /* of the current step */
  int has_schedule;
  double parameters;
  int has_parameters;
};
static struct dtctl_report_state dtctl_report_;

static inline void dtctl_report_lock_(void)
{
  while (__sync_lock_test_and_set(&dtctl_report_.lock, 1)) {
  }
}
static inline void dtctl_report_unlock_(void) { __sync_lock_release(&dtctl_report_.lock); }

/* Seconds of a monotonic clock. */
static inline double dtctl_report_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Opens the report of this rank: DTCTL_REPORT, with RANK in place of the word {RANK} at its end. Where a launcher such as torchrun
 * has started the rank, its first line says so. Returns 1, 0 in a process that is no rank, or -1. */
static inline int dtctl_report_open_(void)
{
  const char *path = getenv("DTCTL_REPORT"), *rank = getenv("RANK"), *ranks = getenv("WORLD_SIZE");
  const char* restarts = getenv("TORCHELASTIC_RESTART_COUNT");
  const size_t length = path == NULL ? 0 : strlen(path), mark = strlen("{RANK}");
  char text[4096], line[128];
  if (length == 0 || length >= sizeof text) return length == 0 ? 0 : -1;
  strcpy(text, path);
  if (length > mark && strcmp(path + length - mark, "{RANK}") == 0) {
    if (rank == NULL || *rank == '\0') return 0;
    snprintf(text + length - mark, sizeof text - (length - mark), "%s", rank);
  }
  dtctl_report_.file = open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (dtctl_report_.file < 0) return -1;
  dtctl_report_.is_open = 1;
  if (getenv("DTCTL_LAUNCHER") != NULL) {
    const int size = snprintf(line, sizeof line, "worker %d %d %d\n", (int)getpid(), ranks == NULL ? 1 : atoi(ranks),
                              restarts == NULL ? 0 : atoi(restarts));
    if (write(dtctl_report_.file, line, (size_t)size) != size) return -1;
  }
  return 1;
}

static inline int dtctl_report_write_(const char* line, int length)
{
  if (!dtctl_report_.is_open) {
    const int opened = dtctl_report_open_();
    if (opened <= 0) return opened;
  }
  if (dtctl_report_.is_torn) { /* dtctl leaves out the half line */
    if (write(dtctl_report_.file, "\n", 1) != 1) return -1;
    dtctl_report_.is_torn = 0;
  }
  while (length > 0) {
    const ssize_t written = write(dtctl_report_.file, line, (size_t)length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -1;
    dtctl_report_.is_torn = written < length;
    line += written;
    length -= (int)written;
  }
  return 0;
}

/* Writes a line of numbers. A locale of the program may print decimal commas; the report has points. */
static inline int dtctl_report_figures_(char* line, int length)
{
  int i;
  for (i = 0; i < length; ++i)
    if (line[i] == ',') line[i] = '.';
  return dtctl_report_write_(line, length);
}

/* Appends a blank and a number. Looks for NaN in the digits: with -ffast-math, no comparison finds it. */
static inline int dtctl_report_number_(char* text, int at, int size, double value)
{
  const int length = snprintf(text + at, (size_t)(size - at), " %.17g", value);
  if (strstr(text + at, "nan") != NULL) return at + snprintf(text + at, (size_t)(size - at), " NaN");
  if (value == DTCTL_UNKNOWN) return at + snprintf(text + at, (size_t)(size - at), " -");
  return at + length;
}

/* Whether a time or a count is possible, or unknown. NaN is not. */
static inline int dtctl_report_is_quantity_(double value) { return (value >= 0 && value < 1e300) || value == DTCTL_UNKNOWN; }

/* Seconds since the mark, which moves to `now`. Unknown before the first begin or step. */
static inline double dtctl_report_lap_(double now)
{
  const double lap = dtctl_report_.has_mark ? now - dtctl_report_.mark : DTCTL_UNKNOWN;
  dtctl_report_.mark = now;
  dtctl_report_.has_mark = 1;
  memset(dtctl_report_.phase_s, 0, sizeof dtctl_report_.phase_s);
  memset(dtctl_report_.has_phase, 0, sizeof dtctl_report_.has_phase);
  return lap;
}

/* The training begins now. A program that goes on from a checkpoint gives the number of steps that were done before. */
static inline int dtctl_report_begin(long long steps_before)
{
  char line[96];
  int code;
  double now;
  if (steps_before < 0) return errno = EINVAL, -1;
  dtctl_report_lock_();
  now = dtctl_report_clock();
  dtctl_report_.step = steps_before;
  (void)dtctl_report_lap_(now);
  code = dtctl_report_figures_(line, snprintf(line, sizeof line, "begin %.9f %lld\n", now, steps_before));
  dtctl_report_unlock_();
  return code;
}

/* Adds seconds to a phase of the current step. */
static inline int dtctl_report_phase(enum dtctl_phase phase, double seconds)
{
  if ((int)phase < 0 || (int)phase >= dtctl_phases || !(seconds >= 0 && seconds < 1e300)) return errno = EINVAL, -1;
  dtctl_report_lock_();
  dtctl_report_.phase_s[phase] += seconds;
  dtctl_report_.has_phase[phase] = 1;
  dtctl_report_unlock_();
  return 0;
}

/* The learning rate of the current step, and the epochs so far. */
static inline int dtctl_report_schedule(double learning_rate, double epoch)
{
  if (!dtctl_report_is_quantity_(epoch)) return errno = EINVAL, -1;
  dtctl_report_lock_();
  dtctl_report_.learning_rate = learning_rate;
  dtctl_report_.epoch = epoch;
  dtctl_report_.has_schedule = 1;
  dtctl_report_unlock_();
  return 0;
}

/* The number of trained parameters of the model, for the result. */
static inline int dtctl_report_parameters(double parameters)
{
  if (!dtctl_report_is_quantity_(parameters)) return errno = EINVAL, -1;
  dtctl_report_lock_();
  dtctl_report_.parameters = parameters;
  dtctl_report_.has_parameters = 1;
  dtctl_report_unlock_();
  return 0;
}

/* One step has ended. samples: that this rank has trained with in it. */
static inline int dtctl_report_step(double loss, double samples)
{
  char line[512];
  int at, i, code;
  double now, phase_s[5];
  if (!dtctl_report_is_quantity_(samples)) return errno = EINVAL, -1;
  dtctl_report_lock_();
  now = dtctl_report_clock();
  for (i = 0; i < dtctl_phases; ++i) phase_s[i] = dtctl_report_.has_phase[i] ? dtctl_report_.phase_s[i] : DTCTL_UNKNOWN;
  at = snprintf(line, sizeof line, "step %lld %.9f", ++dtctl_report_.step, now);
  at = dtctl_report_number_(line, at, (int)sizeof line, dtctl_report_lap_(now));
  at = dtctl_report_number_(line, at, (int)sizeof line, samples);
  at = dtctl_report_number_(line, at, (int)sizeof line, loss);
  at = dtctl_report_number_(line, at, (int)sizeof line, dtctl_report_.has_schedule ? dtctl_report_.learning_rate : DTCTL_UNKNOWN);
  at = dtctl_report_number_(line, at, (int)sizeof line, dtctl_report_.has_schedule ? dtctl_report_.epoch : DTCTL_UNKNOWN);
  dtctl_report_.has_schedule = 0;
  for (i = 0; i < dtctl_phases; ++i) at = dtctl_report_number_(line, at, (int)sizeof line, phase_s[i]);
  line[at++] = '\n';
  code = dtctl_report_figures_(line, at);
  dtctl_report_unlock_();
  return code;
}

/* The model was evaluated on the held-out set, since the last step. An accuracy is between 0 and 1, or NaN. */
static inline int dtctl_report_evaluation(double accuracy, double loss, double samples)
{
  char line[256];
  int at, code;
  double now;
  if (accuracy < 0 && accuracy != DTCTL_UNKNOWN) return errno = EINVAL, -1;
  if (accuracy > 1 || !dtctl_report_is_quantity_(samples)) return errno = EINVAL, -1;
  dtctl_report_lock_();
  now = dtctl_report_clock();
  at = snprintf(line, sizeof line, "eval %lld %.9f", dtctl_report_.step, now);
  at = dtctl_report_number_(line, at, (int)sizeof line, dtctl_report_lap_(now));
  at = dtctl_report_number_(line, at, (int)sizeof line, accuracy);
  at = dtctl_report_number_(line, at, (int)sizeof line, loss);
  at = dtctl_report_number_(line, at, (int)sizeof line, samples);
  line[at++] = '\n';
  code = dtctl_report_figures_(line, at);
  dtctl_report_unlock_();
  return code;
}

/* The training has failed on this rank, for this reason (one line). The time is that of the calendar, to compare ranks. */
static inline int dtctl_report_error(const char* cause)
{
  char line[1024];
  int length, i, code;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  dtctl_report_lock_();
  length = snprintf(line, sizeof line - 1, "error %lld %lld.%06ld %s", dtctl_report_.step, (long long)now.tv_sec,
                    now.tv_nsec / 1000, cause);
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  for (i = 0; i < length; ++i)
    if (line[i] == '\n') line[i] = ' ';
  line[length++] = '\n';
  code = dtctl_report_write_(line, length);
  dtctl_report_unlock_();
  return code;
}

/* The training has reached its end. */
static inline int dtctl_report_result(void)
{
  char line[128], status[4096];
  int at, code, file;
  const char* peak = NULL;
  dtctl_report_lock_();
  file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t got = read(file, status, sizeof status - 1);
    status[got > 0 ? got : 0] = '\0';
    peak = strstr(status, "VmHWM:");
    close(file);
  }
  code = 0;
  if (peak != NULL)
    code = dtctl_report_write_(line, snprintf(line, sizeof line, "memory %lld\n", atoll(peak + strlen("VmHWM:")) * 1024));
  at = snprintf(line, sizeof line, "result %.9f", dtctl_report_clock());
  at = dtctl_report_number_(line, at, (int)sizeof line, dtctl_report_.has_parameters ? dtctl_report_.parameters : DTCTL_UNKNOWN);
  line[at++] = '\n';
  if (code == 0) code = dtctl_report_figures_(line, at);
  dtctl_report_unlock_();
  return code;
}

#ifdef __cplusplus
}
#endif

#endif
