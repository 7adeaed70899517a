# in_a_container.sh COMMAND…   started by mpirun: the command in a namespace of process numbers of its own, as in a container
#
# Ranks get different numbers: Open MPI 4.1's windows end with SIGSEGV where two ranks of a node have the same one. Its direct copies
# between processes would take the number for that of a process in its own namespace.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
exec unshare --user --map-root-user --pid --fork sh -c '
  for _ in $(seq 0 "$OMPI_COMM_WORLD_RANK"); do /bin/true; done
  "$@"
  exit $?' sh "$@"
