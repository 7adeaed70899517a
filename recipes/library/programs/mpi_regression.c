/* Linear regression by synchronous SGD over MPI: a small example of a program that reports to dtctl through dtctl_report.h.
 *
 * Every rank makes its own samples from a seed, and the gradients are averaged with one allreduce per step.
 * Values come from dtctl's variables, with defaults so that the program also runs without dtctl. */
#include <mpi.h>
#include <stdlib.h>

#include "dtctl_report.h"

enum { features = 32 };

static double value(const char* name, double otherwise)
{
  const char* text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : atof(text);
}

static unsigned long long random_state;
static double random_unit(void) /* uniform in [-1, 1) */
{
  random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(random_state >> 11) / 4503599627370496.0 - 1.0;
}

int main(int argc, char** argv)
{
  double weights[features] = {0}, gradient[features + 1], begin;
  const double rate = value("DTCTL_OPTIMIZER_LEARNING_RATE", 0.1);
  const int steps = (int)value("DTCTL_TRAIN_STEPS", 200);
  int rank, ranks, batch, step, sample, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  batch = (int)value("DTCTL_TRAIN_GLOBAL_BATCH", 4096) / ranks;
  random_state = (unsigned long long)value("DTCTL_TRAIN_SEED", 1) * 1000003ULL + (unsigned long long)rank;

  MPI_Barrier(MPI_COMM_WORLD);
  dtctl_report_begin(0);
  for (step = 0; step < steps; ++step) {
    double loss = 0;
    begin = dtctl_report_clock();
    memset(gradient, 0, sizeof gradient);
    for (sample = 0; sample < batch; ++sample) { /* the true weights are 1, 2, 3, … */
      double x[features], error = 0;
      for (i = 0; i < features; ++i) {
        x[i] = random_unit();
        error += x[i] * (weights[i] - (i + 1));
      }
      loss += error * error / batch;
      for (i = 0; i < features; ++i) gradient[i] += 2 * error * x[i] / batch;
    }
    gradient[features] = loss;
    dtctl_report_phase(DTCTL_INPUT, 0);
    dtctl_report_phase(DTCTL_FORWARD, 0); /* this loop is both passes */
    dtctl_report_phase(DTCTL_BACKWARD, dtctl_report_clock() - begin);
    begin = dtctl_report_clock();
    MPI_Allreduce(MPI_IN_PLACE, gradient, features + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    dtctl_report_phase(DTCTL_COMMUNICATION, dtctl_report_clock() - begin);
    begin = dtctl_report_clock();
    for (i = 0; i < features; ++i) weights[i] -= rate * gradient[i] / ranks;
    dtctl_report_phase(DTCTL_OPTIMIZER, dtctl_report_clock() - begin);
    dtctl_report_step(gradient[features] / ranks, batch);
  }
  if (rank == 0) printf("weight 1 is %.4f after %d steps\n", weights[0], steps);
  dtctl_report_result();
  MPI_Finalize();
  return 0;
}
