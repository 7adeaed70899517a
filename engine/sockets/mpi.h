// The functions of MPI that comm calls, over a Mesh, for programs that run without MPI. comm, sync and bindings are compiled once more with
// this header in the place of the library's (CMakeLists.txt). Each function does what MPI's standard says, as far as comm uses it; errors
// are thrown as dt::Error, and the result is always MPI_SUCCESS. As with MPI_THREAD_SERIALIZED, one thread at a time may call them.
#pragma once

#include <cstddef>

namespace dt::sockets {
struct Group;
struct Request;
} // namespace dt::sockets

using MPI_Comm = dt::sockets::Group*;
using MPI_Request = dt::sockets::Request*;
using MPI_Aint = std::ptrdiff_t;
using MPI_Errhandler = int;
using MPI_Info = int;
using MPI_Win = int;

struct MPI_Status {
  int MPI_SOURCE = -1;
};

enum MPI_Datatype { MPI_BYTE, MPI_CHAR, MPI_INT, MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE };
enum MPI_Op { MPI_SUM, MPI_MIN, MPI_MAX };

inline constexpr int MPI_SUCCESS = 0, MPI_ERRORS_RETURN = 0, MPI_INFO_NULL = 0, MPI_WIN_NULL = 0;
inline constexpr int MPI_ANY_SOURCE = -1, MPI_UNDEFINED = -1;
inline constexpr int MPI_THREAD_SERIALIZED = 2;
inline constexpr int MPI_MAX_ERROR_STRING = 256, MPI_MAX_LIBRARY_VERSION_STRING = 256;
inline constexpr MPI_Comm MPI_COMM_NULL = nullptr;
inline constexpr MPI_Request MPI_REQUEST_NULL = nullptr;
inline constexpr MPI_Status* MPI_STATUS_IGNORE = nullptr;

namespace dt::sockets {
extern char in_place; // its address is MPI_IN_PLACE
MPI_Comm world();     // throws a run error before join()
} // namespace dt::sockets

#define MPI_IN_PLACE (static_cast<void*>(&dt::sockets::in_place))
#define MPI_COMM_WORLD (dt::sockets::world())

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Query_thread(int* provided);
int MPI_Finalize();
[[noreturn]] int MPI_Abort(MPI_Comm comm, int code);
int MPI_Get_library_version(char* text, int* length);
int MPI_Error_string(int code, char* text, int* length);

int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);

int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void* data, int count, MPI_Datatype type, void* all, int count_of_each, MPI_Datatype type_of_all, int root,
               MPI_Comm comm);
int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* all, const int* counts, const int* offsets,
                MPI_Datatype type_of_all, int root, MPI_Comm comm);
int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* all, int count_of_each, MPI_Datatype type_of_all,
                  MPI_Comm comm);
int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* all, const int* counts, const int* offsets,
                   MPI_Datatype type_of_all, MPI_Comm comm);
// The whole operation is made by the call that begins it.
int MPI_Iallreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);

// Throws: memory that containers share needs an MPI library.
int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window);
int MPI_Win_shared_query(MPI_Win window, int rank, MPI_Aint* size, int* unit, void* base);
int MPI_Win_free(MPI_Win* window);
