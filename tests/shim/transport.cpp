// transport LIBRARY: an MPI program that loads LIBRARY (a preload library of this MPI) as any
// other, makes a communicator of the core with its transport, and broadcasts with it; twice, on a
// communicator that is freed in between. Prints "all right" on each rank.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "thinwire/thinwire_mpi.h"

namespace {

using Transport = decltype(&tw_mpi_transport);

float value(int at) { return 0.5F * static_cast<float>(at / 7 % 50); }

bool broadcast(tw_comm* comm, int rank) {
  std::vector<float> data(100000);
  if (rank == 0) {
    for (int at = 0; at < static_cast<int>(data.size()); ++at) data[at] = value(at);
  }
  tw_collective collective{};
  collective.size = sizeof collective;
  collective.operation = TW_BCAST;
  collective.dtype = TW_F32;
  collective.receive = data.data();
  collective.count = data.size();
  tw_collective_report report{};
  report.size = sizeof report;
  if (tw_comm_run(comm, &collective, &report) != TW_OK) return false;
  bool right = rank != 0 || (report.wire_bytes > 0 && report.wire_bytes < report.raw_bytes);
  for (int at = 0; at < static_cast<int>(data.size()); ++at) right &= data[at] == value(at);
  return right;
}

bool run_on(Transport make, MPI_Comm of, int rank) {
  MPI_Comm copy;
  MPI_Comm_dup(of, &copy);
  tw_transport transport{};
  transport.size = sizeof transport;
  if (make(&copy, &transport) != TW_OK) return false;
  MPI_Comm_free(&copy);
  tw_codec* codec = nullptr;
  tw_codec_create("expack", &codec);
  tw_comm_options options{};
  options.size = sizeof options;
  options.codec = codec;
  tw_comm* comm = nullptr;
  const bool made = tw_comm_create(&transport, &options, &comm) == TW_OK;
  tw_codec_destroy(codec);
  const bool right = made && broadcast(comm, rank);
  if (made) tw_comm_destroy(comm);
  return right;
}

bool refuses_what_is_none(Transport make) {
  tw_transport transport{};
  transport.size = sizeof transport;
  MPI_Comm none = MPI_COMM_NULL;
  return make(&none, &transport) == TW_INVALID_ARGUMENT &&
         make(nullptr, &transport) == TW_INVALID_ARGUMENT;
}

}  // namespace

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  const auto make = library == nullptr
                        ? nullptr
                        : reinterpret_cast<Transport>(dlsym(library, "tw_mpi_transport"));
  if (make == nullptr) {
    std::printf("no library\n");
    return 1;
  }
  tw_transport early{};
  early.size = sizeof early;
  MPI_Comm world = MPI_COMM_WORLD;
  bool right = make(&world, &early) == TW_UNSUPPORTED;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  right = right && refuses_what_is_none(make);
  for (int round = 0; round < 2; ++round) right = run_on(make, MPI_COMM_WORLD, rank) && right;
  std::printf(right ? "all right\n" : "something is wrong\n");
  MPI_Finalize();
  return right ? 0 : 1;
}
