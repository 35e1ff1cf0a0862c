// Messages between GPUs through plain MPI calls, for a preload library on an MPI that cannot reach
// GPU memory. mpirun -n 2 shim_exchange [TOLERANCE]: a relative bound for floats that are coded
// once, 0 for lossless codecs. Prints "ok N exchanges", or what differed, and exits with 1.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shim_exchange_array.h"

namespace {

int rank = 0, peer = 0, exchanges = 0, wrong = 0;
double tolerance = 0;

std::vector<float> values_of(int sender, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = static_cast<float>(sender + 2) + std::sin(static_cast<float>(at) * 0.001f);
  }
  return values;
}

void compare(const char* what, const std::vector<float>& found, const std::vector<float>& expected,
             double bound) {
  ++exchanges;
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (std::fabs(found[at] - expected[at]) <= bound * std::fabs(expected[at])) continue;
    ++wrong;
    std::printf("rank %d: %s, %zu floats: at %zu %g instead of %g\n", rank, what, expected.size(),
                at, found[at], expected[at]);
    return;
  }
}

// One message each way: `move(out, in, count)` sends and receives.
template <typename Move>
void exchange(const char* what, std::size_t count, Move&& move, Memory sent = Memory::kDevice,
              Memory received = Memory::kDevice) {
  Array out(count, sent), in(count, received);
  out.write(values_of(rank, count));
  in.write(std::vector<float>(count, -1));
  move(out.data(), in.data(), static_cast<int>(count));
  compare(what, in.read(), values_of(peer, count), tolerance);
}

using StartSend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

void start_and_wait(StartSend send, const float* out, float* in, int count) {
  MPI_Request requests[2];
  MPI_Irecv(in, count, MPI_FLOAT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);  // a ready send needs it posted
  send(out, count, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void blocking(const float* out, float* in, int count) {
  if (rank == 0) MPI_Send(out, count, MPI_FLOAT, peer, 2, MPI_COMM_WORLD);
  MPI_Recv(in, count, MPI_FLOAT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(out, count, MPI_FLOAT, peer, 2, MPI_COMM_WORLD);
}

void buffered(const float* out, float* in, int count) {
  int bytes = count * static_cast<int>(sizeof(float)) + MPI_BSEND_OVERHEAD;
  void* buffer = std::malloc(bytes);
  MPI_Buffer_attach(buffer, bytes);
  MPI_Bsend(out, count, MPI_FLOAT, peer, 3, MPI_COMM_WORLD);
  MPI_Recv(in, count, MPI_FLOAT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&buffer, &bytes);
  std::free(buffer);
}

void probed(const float* out, float* in, int count) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  int found = 0;
  MPI_Isend(out, count, MPI_FLOAT, peer, 4, MPI_COMM_WORLD, &request);
  MPI_Mprobe(peer, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_FLOAT, &found);
  if (found != count) {
    ++wrong;
    std::printf("rank %d: a probe says %d instead of %d floats\n", rank, found, count);
  }
  MPI_Mrecv(in, count, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void persistent(const float* out, float* in, int count) {
  MPI_Request requests[2];
  MPI_Recv_init(in, count, MPI_FLOAT, peer, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, count, MPI_FLOAT, peer, 5, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

void combined(const float* out, float* in, int count) {
  MPI_Sendrecv(out, count, MPI_FLOAT, peer, 6, in, count, MPI_FLOAT, peer, 6, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void replaced(const float* out, float* in, int count) {
  cuda(cudaMemcpy(in, out, count * sizeof(float), cudaMemcpyDefault), "copy");
  cuda(cudaDeviceSynchronize(), "copy");
  MPI_Sendrecv_replace(in, count, MPI_FLOAT, peer, 7, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void every_call(std::size_t count) {
  exchange("Send", count, blocking);
  exchange("Isend", count, [](auto... args) { start_and_wait(MPI_Isend, args...); });
  exchange("Issend", count, [](auto... args) { start_and_wait(MPI_Issend, args...); });
  exchange("Irsend", count, [](auto... args) { start_and_wait(MPI_Irsend, args...); });
  exchange("Bsend", count, buffered);
  exchange("Mprobe", count, probed);
  exchange("persistent", count, persistent);
  exchange("Sendrecv", count, combined);
  exchange("Sendrecv_replace", count, replaced);
  exchange("to host", count, combined, Memory::kDevice, Memory::kHost);
  exchange("from host", count, combined, Memory::kHost, Memory::kDevice);
  exchange("managed", count, combined, Memory::kManaged, Memory::kManaged);
}

// Many at once, so that copies of one overlap the arrival of others.
void many(std::size_t count) {
  constexpr int kMessages = 8;
  exchange("many", count * kMessages, [&](const float* out, float* in, int) {
    MPI_Request requests[2 * kMessages];
    for (int at = 0; at < kMessages; ++at) {
      const std::size_t first = at * count;
      MPI_Irecv(in + first, static_cast<int>(count), MPI_FLOAT, peer, at, MPI_COMM_WORLD,
                &requests[at]);
      MPI_Isend(out + first, static_cast<int>(count), MPI_FLOAT, peer, at, MPI_COMM_WORLD,
                &requests[kMessages + at]);
    }
    MPI_Waitall(2 * kMessages, requests, MPI_STATUSES_IGNORE);
  });
}

// One element of `type` each way inside `count` floats; gaps must stay.
void with_gaps(const char* what, MPI_Datatype type, std::size_t count) {
  MPI_Type_commit(&type);
  Array out(count), in(count);
  out.write(values_of(rank, count));
  in.write(std::vector<float>(count, -1));
  MPI_Sendrecv(out.data(), 1, type, peer, 8, in.data(), 1, type, peer, 8, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  std::vector<float> expected(count, -1), sent = values_of(peer, count);
  // The MPI itself says on host memory which floats the type means.
  MPI_Sendrecv(sent.data(), 1, type, 0, 9, expected.data(), 1, type, 0, 9, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  compare(what, in.read(), expected, tolerance);
  MPI_Type_free(&type);
}

void derived_types() {
  MPI_Datatype type;
  MPI_Type_vector(50000, 3, 7, MPI_FLOAT, &type);
  with_gaps("vector", type, 350000);
  const int sizes[] = {40, 50, 60}, extents[] = {20, 30, 41}, starts[] = {3, 5, 7};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    MPI_Type_create_subarray(3, sizes, extents, starts, order, MPI_FLOAT, &type);
    with_gaps("subarray", type, 120000);
  }
  const int lengths[] = {9000, 1, 20000}, places[] = {50000, 3, 10000};
  MPI_Type_indexed(3, lengths, places, MPI_FLOAT, &type);
  with_gaps("indexed", type, 60000);
}

void collectives(std::size_t count) {
  const auto mine = values_of(rank, count), theirs = values_of(peer, count);
  std::vector<float> sum(count), both(2 * count);
  for (std::size_t at = 0; at < count; ++at) sum[at] = mine[at] + theirs[at];
  std::memcpy(both.data() + rank * count, mine.data(), count * sizeof(float));
  std::memcpy(both.data() + peer * count, theirs.data(), count * sizeof(float));
  Array in(count), out(count), all(2 * count);
  in.write(mine);
  const int length = static_cast<int>(count);
  MPI_Allreduce(in.data(), out.data(), length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  compare("Allreduce", out.read(), sum, 2 * tolerance);  // parts are coded, then their sums
  MPI_Allgather(in.data(), length, MPI_FLOAT, all.data(), length, MPI_FLOAT, MPI_COMM_WORLD);
  compare("Allgather", all.read(), both, tolerance);
  MPI_Bcast(in.data(), length, MPI_FLOAT, 1, MPI_COMM_WORLD);
  compare("Bcast", in.read(), rank == 1 ? mine : theirs, tolerance);
}

// GPU memory as bytes and to oneself: always exact.
void exact() {
  const std::size_t count = 100003;
  Array out(count), in(count);
  out.write(values_of(rank, count));
  MPI_Sendrecv(out.data(), static_cast<int>(count * sizeof(float)), MPI_BYTE, peer, 10, in.data(),
               static_cast<int>(count * sizeof(float)), MPI_BYTE, peer, 10, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  compare("bytes", in.read(), values_of(peer, count), 0);
  MPI_Sendrecv(out.data(), static_cast<int>(count), MPI_FLOAT, 0, 11, in.data(),
               static_cast<int>(count), MPI_FLOAT, 0, 11, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  compare("to oneself", in.read(), values_of(rank, count), tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, devices = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  cuda(cudaSetDevice(rank % devices), "cudaSetDevice");
  if (argc > 1) tolerance = std::atof(argv[1]);
  peer = 1 - rank;
  if (size != 2) {
    std::printf("two ranks, not %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (const std::size_t count : {0, 1, 1000, 4095, 4096, 16383, 16384, 65537, 1 << 20, 9 << 20}) {
    every_call(count);
  }
  many(200000);
  derived_types();
  collectives(70001);
  exact();
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all_wrong == 0) std::printf("ok %d exchanges\n", exchanges);
  MPI_Finalize();
  return all_wrong != 0;
}
