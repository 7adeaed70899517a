// What MPI sees of a testbed, for its tests: started by mpirun with a number of bytes, the first rank sends so many to the last
// and waits for a word back. Prints "4 ranks on 2 nodes, 1000000 bytes in 0.081 s".
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

namespace {

// Ranks that share memory are on one node. Collective.
int count_nodes(int rank)
{
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int rank_on_node = 0, nodes = 0;
  MPI_Comm_rank(node, &rank_on_node);
  const int leads = rank_on_node == 0 ? 1 : 0;
  MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  return nodes;
}

// Seconds from the first byte sent to the last rank's word that it has them all; of the first rank only.
double send_to_last(std::vector<char>& bytes, int rank, int last)
{
  const auto count = static_cast<int>(bytes.size());
  char word = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (rank == 0) {
    MPI_Send(bytes.data(), count, MPI_CHAR, last, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == last) {
    MPI_Recv(bytes.data(), count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

} // namespace

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<char> bytes(argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 0);
  const int nodes = count_nodes(rank);
  const double seconds = ranks > 1 ? send_to_last(bytes, rank, ranks - 1) : 0;
  if (rank == 0) std::printf("%d ranks on %d nodes, %zu bytes in %.6f s\n", ranks, nodes, bytes.size(), seconds);
  MPI_Finalize();
}
