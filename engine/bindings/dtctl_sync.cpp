#include "engine/bindings/dtctl_sync.h"

#include "core/error.hpp"
#include "core/spec/spec_schema.hpp"
#include "engine/bindings/guarded.hpp"
#include "engine/bindings/training.hpp"

#include <algorithm>

struct dtctl_sync {
  std::unique_ptr<dt::bindings::Training> training;
  MPI_Comm world = MPI_COMM_NULL; // a duplicate, so that the program's own messages do not meet the strategy's
  std::string text;               // of the last dtctl_sync_setting
  std::string name;               // of the last dtctl_sync_state
};

namespace {

using dt::Error;
using dt::ErrorKind;
using dt::bindings::guarded;

int trainings = 0;     // open ones of this process
bool owns_mpi = false; // dtctl_sync_open has begun MPI

void begin_mpi()
{
  int is_begun = 0, is_ended = 0, level = 0;
  MPI_Finalized(&is_ended);
  if (is_ended != 0) throw Error(ErrorKind::run, "MPI has ended in this process; open a training before.");
  MPI_Initialized(&is_begun);
  if (is_begun == 0) {
    dt::comm::check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    owns_mpi = true;
  } else {
    MPI_Query_thread(&level);
  }
  if (level < MPI_THREAD_SERIALIZED)
    throw Error(ErrorKind::environment, "MPI was begun without MPI_THREAD_SERIALIZED; begin it with that level, or open the "
                                        "training before MPI.");
}

void end_mpi()
{
  if (--trainings > 0 || !owns_mpi) return;
  int is_ended = 0;
  MPI_Finalized(&is_ended);
  if (is_ended == 0) MPI_Finalize();
}

dt::bindings::Training& training_of(dtctl_sync* sync)
{
  if (sync == nullptr) throw Error(ErrorKind::run, "there is no training: the pointer is null");
  return *sync->training;
}

} // namespace

std::string& dt::bindings::last_error()
{
  thread_local std::string text;
  return text;
}

int dtctl_sync_open(const char* settings, dtctl_sync** sync)
{
  return guarded([&] {
    auto read = dt::bindings::read_settings(settings == nullptr ? "" : settings);
    auto opened = std::make_unique<dtctl_sync>();
    begin_mpi();
    dt::comm::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &opened->world), "MPI_Comm_dup");
    opened->training = std::make_unique<dt::bindings::Training>(std::move(read), opened->world);
    ++trainings;
    *sync = opened.release();
  });
}

const char* dtctl_sync_error() { return dt::bindings::last_error().c_str(); }

int dtctl_sync_get_place(const dtctl_sync* sync, dtctl_sync_place* place)
{
  return guarded([&] { *place = training_of(const_cast<dtctl_sync*>(sync)).place(); });
}

int dtctl_sync_setting(dtctl_sync* sync, const char* key, const char** value)
{
  return guarded([&] {
    const auto* row = dt::find_key(key);
    if (row == nullptr || row->field == nullptr) throw Error(ErrorKind::run, std::string("there is no key ") + key);
    sync->text = dt::to_text(dt::value_of(training_of(sync).spec(), *row));
    *value = sync->text.c_str();
  });
}

int dtctl_sync_layout(dtctl_sync* sync, size_t tensors, const size_t* lengths, size_t* begins, size_t* floats)
{
  return guarded([&] {
    const auto& layout = training_of(sync).lay_out_tensors({lengths, tensors});
    for (size_t i = 0; i < tensors; ++i) begins[i] = layout.tensors[i].begin;
    *floats = layout.floats;
  });
}

int dtctl_sync_start(dtctl_sync* sync, const char* model, float* weights, float* gradients, const dtctl_sync_callbacks* callbacks)
{
  return guarded([&] { training_of(sync).start(model, weights, gradients, *callbacks); });
}

int dtctl_sync_step(dtctl_sync* sync, double learning_rate, double epoch, double* loss)
{
  return guarded([&] { *loss = training_of(sync).step(learning_rate, epoch); });
}

int dtctl_sync_gradient(dtctl_sync* sync, size_t tensor)
{
  return guarded([&] { training_of(sync).announce(tensor); });
}

int dtctl_sync_absent(dtctl_sync* sync, size_t tensor)
{
  return guarded([&] { training_of(sync).note_absent(tensor); });
}

int dtctl_sync_all_absent(dtctl_sync* sync, size_t* tensors, size_t* count)
{
  return guarded([&] {
    const auto absent = training_of(sync).absent();
    std::ranges::copy(absent, tensors);
    *count = absent.size();
  });
}

int dtctl_sync_gather(dtctl_sync* sync, const double* values, size_t count, double* all)
{
  return guarded([&] { std::ranges::copy(training_of(sync).gather({values, count}), all); });
}

int dtctl_sync_keeps_equal(dtctl_sync* sync, int* keeps)
{
  return guarded([&] { *keeps = training_of(sync).keeps_equal() ? 1 : 0; });
}

int dtctl_sync_get_times(const dtctl_sync* sync, dtctl_sync_times* times)
{
  return guarded([&] { *times = training_of(const_cast<dtctl_sync*>(sync)).times(); });
}

int dtctl_sync_average(dtctl_sync* sync, float* values, size_t count)
{
  return guarded([&] { training_of(sync).average({values, count}); });
}

int dtctl_sync_broadcast(dtctl_sync* sync, float* values, size_t count)
{
  return guarded([&] { training_of(sync).broadcast({values, count}); });
}

int dtctl_sync_mean(dtctl_sync* sync, float* values, size_t count)
{
  return guarded([&] { training_of(sync).take_mean_of_workers({values, count}); });
}

int dtctl_sync_evaluated(dtctl_sync* sync, float* weights)
{
  return guarded([&] {
    auto& training = training_of(sync);
    training.copy_evaluated({weights, training.floats()});
  });
}

int dtctl_sync_state(dtctl_sync* sync, size_t index, const char** name, float** values, size_t* count)
{
  return guarded([&] {
    const auto states = training_of(sync).state();
    if (index >= states.size()) {
      *values = nullptr;
      return;
    }
    sync->name = states[index].name;
    *name = sync->name.c_str();
    *values = states[index].values.data();
    *count = states[index].values.size();
  });
}

int dtctl_sync_resume(dtctl_sync* sync, int64_t step)
{
  return guarded([&] { training_of(sync).resume(step); });
}

int dtctl_sync_span(dtctl_sync* sync, const char* name, int64_t step, double begin_s, double end_s)
{
  return guarded([&] { training_of(sync).add_span(name, step, begin_s, end_s); });
}

int dtctl_sync_finish(dtctl_sync* sync)
{
  return guarded([&] { training_of(sync).finish(); });
}

int dtctl_sync_close(dtctl_sync* sync)
{
  if (sync == nullptr) return 0;
  return guarded([&] {
    sync->training.reset();
    MPI_Comm_free(&sync->world);
    delete sync;
    end_mpi();
  });
}

void dtctl_sync_abort() { MPI_Abort(MPI_COMM_WORLD, 1); }
