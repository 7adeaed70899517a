// mpi.h over a mesh: messages as they are, and collective operations along trees.
#include <mpi.h>

#include "core/error.hpp"
#include "engine/sockets/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

namespace dt::sockets {

// A communicator: processes of the mesh, numbered anew.
struct Group {
  std::uint64_t context = 0;
  std::vector<int> processes;
  int rank = 0;
  std::int32_t collectives = 0; // operations so far
  std::uint64_t parts = 0;      // groups that were made of it

  int size() const { return static_cast<int>(processes.size()); }
  int process(int of) const { return of == MPI_ANY_SOURCE ? any_process : processes[static_cast<std::size_t>(of)]; }
  int rank_of(int of) const { return static_cast<int>(std::ranges::find(processes, of) - processes.begin()); }
};

char in_place;

namespace {

struct World {
  std::unique_ptr<Mesh> mesh;
  Group group;
};

// The state of this process: there is one mesh in it, as MPI has one world.
std::optional<Listener> listener;
std::optional<World> the_world;
bool has_ended = false;

Mesh& mesh() { return *the_world->mesh; }

std::size_t size_of(MPI_Datatype type)
{
  switch (type) {
  case MPI_INT:
    return sizeof(int);
  case MPI_FLOAT:
    return sizeof(float);
  case MPI_INT64_T:
  case MPI_DOUBLE:
    return sizeof(double);
  default:
    return 1;
  }
}

std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * size_of(type); }

template<class Number> void combine_as(std::byte* to, const std::byte* from, int count, MPI_Op op)
{
  for (int i = 0; i < count; ++i) {
    Number a{}, b{};
    const auto offset = static_cast<std::size_t>(i) * sizeof(Number);
    std::memcpy(&a, to + offset, sizeof(Number));
    std::memcpy(&b, from + offset, sizeof(Number));
    a = op == MPI_SUM ? a + b : op == MPI_MIN ? std::min(a, b) : std::max(a, b);
    std::memcpy(to + offset, &a, sizeof(Number));
  }
}

void combine(std::byte* to, const std::byte* from, int count, MPI_Datatype type, MPI_Op op)
{
  switch (type) {
  case MPI_INT:
    return combine_as<int>(to, from, count, op);
  case MPI_INT64_T:
    return combine_as<std::int64_t>(to, from, count, op);
  case MPI_FLOAT:
    return combine_as<float>(to, from, count, op);
  case MPI_DOUBLE:
    return combine_as<double>(to, from, count, op);
  default:
    throw Error(ErrorKind::internal, "bytes cannot be combined");
  }
}

std::unique_ptr<Request> begin_send(const Group& group, int to, std::int32_t tag, std::span<const std::byte> data)
{
  return mesh().send(group.process(to), {.context = group.context, .tag = tag}, data);
}

std::unique_ptr<Request> begin_receive(const Group& group, int from, std::int32_t tag, std::span<std::byte> room)
{
  auto request = mesh().receive(group.process(from), {.context = group.context, .tag = tag}, room);
  request->group = &group;
  return request;
}

void send(const Group& group, int to, std::int32_t tag, std::span<const std::byte> data)
{
  mesh().wait(*begin_send(group, to, tag, data));
}

void receive(const Group& group, int from, std::int32_t tag, std::span<std::byte> room)
{
  mesh().wait(*begin_receive(group, from, tag, room));
}

// Tags of collective operations are negative, so they meet no other message. Equal on all ranks, which call them in one order.
std::int32_t collective_tag(Group& group) { return -1 - group.collectives++ % (1 << 30); }

std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) { return {static_cast<const std::byte*>(data), bytes}; }
std::span<std::byte> bytes_at(void* data, std::size_t bytes) { return {static_cast<std::byte*>(data), bytes}; }

// Along a binomial tree.
void broadcast(Group& group, std::span<std::byte> data, int root)
{
  const auto tag = collective_tag(group);
  const int size = group.size(), place = (group.rank - root + size) % size;
  int reach = 1;
  while (reach < size && (place & reach) == 0) reach <<= 1;
  if (place > 0) receive(group, (place - reach + root) % size, tag, data);
  for (reach >>= 1; reach > 0; reach >>= 1)
    if (place + reach < size) send(group, (place + reach + root) % size, tag, data);
}

// Along a binomial tree; `data` of all ranks is combined in that of root, and used up on the others.
void reduce(Group& group, std::span<std::byte> data, int count, MPI_Datatype type, MPI_Op op, int root)
{
  const auto tag = collective_tag(group);
  const int size = group.size(), place = (group.rank - root + size) % size;
  std::vector<std::byte> other(data.size());
  for (int reach = 1; reach < size; reach <<= 1) {
    if ((place & reach) != 0) return send(group, (place - reach + root) % size, tag, data);
    if (place + reach >= size) continue;
    receive(group, (place + reach + root) % size, tag, other);
    combine(data.data(), other.data(), count, type, op);
  }
}

// To root, whose `place_of` says where the data of a rank belongs.
template<class PlaceOf> void gather(Group& group, std::span<const std::byte> own, int root, const PlaceOf& place_of)
{
  const auto tag = collective_tag(group);
  if (group.rank != root) return send(group, root, tag, own);
  for (int from = 0; from < group.size(); ++from)
    if (from == root)
      std::ranges::copy(own, place_of(from).begin());
    else
      receive(group, from, tag, place_of(from));
}

// A number for a group that differs from those of all others (splitmix64).
std::uint64_t context_of(std::uint64_t parent, std::uint64_t part, std::uint64_t color)
{
  std::uint64_t x = parent;
  for (const auto word : {part, color}) {
    x += 0x9e3779b97f4a7c15U + word;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
  }
  return x;
}

void take(MPI_Request* request, MPI_Status* status)
{
  const std::unique_ptr<Request> ended(*request);
  *request = MPI_REQUEST_NULL;
  if (status != MPI_STATUS_IGNORE && ended->group != nullptr) status->MPI_SOURCE = ended->group->rank_of(ended->envelope.from);
}

} // namespace

int listen()
{
  if (!listener) listener.emplace();
  return listener->port();
}

void join(int own, const std::vector<std::string>& addresses, const Token& token)
{
  if (the_world) throw Error(ErrorKind::run, "this process has joined the others before");
  listen();
  World world{.mesh = std::make_unique<Mesh>(own, addresses, *listener, token), .group = {.processes = {}, .rank = own}};
  world.group.processes.resize(addresses.size());
  std::iota(world.group.processes.begin(), world.group.processes.end(), 0);
  the_world = std::move(world);
  listener.reset();
}

MPI_Comm world()
{
  if (!the_world)
    throw Error(ErrorKind::run, "this process has not joined the others: call dtctl_sync_join() before dtctl_sync_open()");
  return &the_world->group;
}

} // namespace dt::sockets

using namespace dt::sockets;

int MPI_Init_thread(int*, char***, int, int* provided)
{
  world();
  return MPI_Query_thread(provided);
}

int MPI_Initialized(int* flag)
{
  *flag = 0; // MPI_Init_thread looks whether it has joined
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag)
{
  *flag = has_ended ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Query_thread(int* provided)
{
  *provided = MPI_THREAD_SERIALIZED;
  return MPI_SUCCESS;
}

int MPI_Finalize()
{
  MPI_Barrier(world()); // nothing is under way then
  the_world.reset();
  has_ended = true;
  return MPI_SUCCESS;
}

// The others find that this process has ended, at the latest where they wait for it.
int MPI_Abort(MPI_Comm, int code) { std::_Exit(code); }

int MPI_Get_library_version(char* text, int* length)
{
  std::strcpy(text, "TCP");
  *length = 3;
  return MPI_SUCCESS;
}

int MPI_Error_string(int, char* text, int* length)
{
  *text = '\0';
  *length = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank)
{
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int* size)
{
  *size = comm->size();
  return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part)
{
  struct Wish {
    int color, key, rank;
  };
  const Wish own{color, key, comm->rank};
  std::vector<Wish> all(comm->processes.size());
  constexpr int bytes = sizeof(Wish);
  MPI_Allgather(&own, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
  ++comm->parts;
  *part = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  std::erase_if(all, [&](const Wish& wish) { return wish.color != color; });
  std::ranges::stable_sort(all, {}, &Wish::key); // they are in the order of their ranks
  auto made = std::make_unique<Group>();
  made->context = context_of(comm->context, comm->parts, static_cast<std::uint64_t>(color));
  for (const auto& wish : all) {
    if (wish.rank == comm->rank) made->rank = made->size();
    made->processes.push_back(comm->process(wish.rank));
  }
  *part = made.release();
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) { return MPI_Comm_split(comm, 0, 0, copy); }

int MPI_Comm_free(MPI_Comm* comm)
{
  delete *comm;
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
  *request = begin_send(*comm, to, tag, bytes_at(data, bytes_of(count, type))).release();
  return MPI_SUCCESS;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
  *request = begin_receive(*comm, from, tag, bytes_at(data, bytes_of(count, type))).release();
  return MPI_SUCCESS;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  send(*comm, to, tag, bytes_at(data, bytes_of(count, type)));
  return MPI_SUCCESS;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, type, from, tag, comm, &request);
  return MPI_Wait(&request, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status)
{
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  mesh().wait(**request);
  take(request, status);
  return MPI_SUCCESS;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
  *flag = *request == MPI_REQUEST_NULL || mesh().test(**request) ? 1 : 0;
  if (*flag != 0 && *request != MPI_REQUEST_NULL) take(request, status);
  return MPI_SUCCESS;
}

// By dissemination: after the k-th round each rank knows of 2^k others.
int MPI_Barrier(MPI_Comm comm)
{
  const auto tag = collective_tag(*comm);
  const int size = comm->size();
  for (int reach = 1; reach < size; reach <<= 1) {
    const auto sent = begin_send(*comm, (comm->rank + reach) % size, tag, {});
    receive(*comm, (comm->rank - reach + size) % size, tag, {});
    mesh().wait(*sent);
  }
  return MPI_SUCCESS;
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  broadcast(*comm, bytes_at(data, bytes_of(count, type)), root);
  return MPI_SUCCESS;
}

int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
  const auto bytes = bytes_of(count, type);
  if (comm->rank == root) {
    if (data != MPI_IN_PLACE) std::memcpy(result, data, bytes);
    reduce(*comm, bytes_at(result, bytes), count, type, op, root);
  } else {
    const auto own = bytes_at(data, bytes);
    std::vector<std::byte> copy(own.begin(), own.end());
    reduce(*comm, copy, count, type, op, root);
  }
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  const auto bytes = bytes_of(count, type);
  if (data != MPI_IN_PLACE) std::memcpy(result, data, bytes);
  reduce(*comm, bytes_at(result, bytes), count, type, op, 0);
  return MPI_Bcast(result, count, type, 0, comm);
}

int MPI_Gather(const void* data, int count, MPI_Datatype type, void* all, int, MPI_Datatype, int root, MPI_Comm comm)
{
  const auto bytes = bytes_of(count, type);
  gather(*comm, bytes_at(data, bytes), root,
         [&](int from) { return bytes_at(static_cast<std::byte*>(all) + static_cast<std::size_t>(from) * bytes, bytes); });
  return MPI_SUCCESS;
}

int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* all, const int* counts, const int* offsets, MPI_Datatype,
                int root, MPI_Comm comm)
{
  gather(*comm, bytes_at(data, bytes_of(count, type)), root, [&](int from) {
    return bytes_at(static_cast<std::byte*>(all) + bytes_of(offsets[from], type), bytes_of(counts[from], type));
  });
  return MPI_SUCCESS;
}

int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* all, int, MPI_Datatype, MPI_Comm comm)
{
  MPI_Gather(data, count, type, all, count, type, 0, comm);
  broadcast(*comm, bytes_at(all, bytes_of(count, type) * comm->processes.size()), 0);
  return MPI_SUCCESS;
}

int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* all, const int* counts, const int* offsets, MPI_Datatype,
                   MPI_Comm comm)
{
  MPI_Gatherv(data, count, type, all, counts, offsets, type, 0, comm);
  const int last = comm->size() - 1;
  return MPI_Bcast(all, offsets[last] + counts[last], type, 0, comm);
}

int MPI_Iallreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  *request = MPI_REQUEST_NULL;
  return MPI_Allreduce(data, result, count, type, op, comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request)
{
  *request = MPI_REQUEST_NULL;
  return MPI_Barrier(comm);
}

int MPI_Win_allocate_shared(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*)
{
  throw dt::Error(dt::ErrorKind::environment,
                  "The ranks of this node run in different containers, so that they share memory only through an "
                  "MPI library: start them with mpirun or srun, or take another sync.allreduce, such as ring.");
}

int MPI_Win_shared_query(MPI_Win, int, MPI_Aint*, int*, void*) { return MPI_SUCCESS; }
int MPI_Win_free(MPI_Win*) { return MPI_SUCCESS; }
