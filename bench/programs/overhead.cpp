// Measures what a pair of small messages costs: one process sends to itself, or two to each other,
// by Irecv, Isend and Waitall; with MPI_THREAD_MULTIPLE if it is asked for. A plain MPI program;
// the fastest of many batches stands for the code path, as everything that disturbs a batch makes
// it slower. Prints a JSON line a size; BYTES: of that one alone.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

namespace {

constexpr int kPairs = 200;
constexpr int kDefaultBatches = 400;
constexpr int kWarmupBatches = 20;
// Below the smallest default size at which receives are watched (16 KiB).
constexpr int kSizes[] = {4, 64, 1024, 16384 - 16};

struct Buffers {
  explicit Buffers(int bytes) : sent(bytes / sizeof(float)), received(sent.size()) {}
  int count() const { return static_cast<int>(sent.size()); }

  std::vector<float> sent;
  std::vector<float> received;
};

double time_batch(Buffers& buffers, int partner) {
  const double start = MPI_Wtime();
  for (int pair = 0; pair < kPairs; ++pair) {
    MPI_Request requests[2];
    MPI_Irecv(buffers.received.data(), buffers.count(), MPI_FLOAT, partner, 0, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(buffers.sent.data(), buffers.count(), MPI_FLOAT, partner, 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return MPI_Wtime() - start;
}

bool arrived(const Buffers& buffers) {
  return std::memcmp(buffers.sent.data(), buffers.received.data(),
                     buffers.sent.size() * sizeof(float)) == 0;
}

bool measure(int bytes, int batches, int rank, int size) {
  Buffers buffers(bytes);
  double best = std::numeric_limits<double>::infinity();
  bool verified = true;
  for (int batch = -kWarmupBatches; batch < batches; ++batch) {
    // New values every time, or a batch that moves nothing would pass for one that does.
    std::fill(buffers.sent.begin(), buffers.sent.end(), static_cast<float>(batch));
    buffers.sent.back() += 0.5f;
    const double seconds = time_batch(buffers, size - 1 - rank);
    if (batch >= 0) best = std::min(best, seconds);
    verified = verified && arrived(buffers);
  }
  if (rank != 0) return verified;
  std::printf(
      "{\"program\": \"overhead\", \"bytes\": %d, \"batches\": %d, \"messages\": %d, "
      "\"nanoseconds\": %.2f, \"verified\": %s}\n",
      bytes, batches, (kWarmupBatches + batches) * kPairs * size, best / kPairs * 1e9,
      verified ? "true" : "false");
  return verified;
}

}  // namespace

int main(int argc, char** argv) {
  const int batches = argc > 1 ? std::atoi(argv[1]) : kDefaultBatches;
  const bool threads = argc > 2 && std::strcmp(argv[2], "threads") == 0;
  const int one_size = argc > 2 && !threads ? std::atoi(argv[2]) : 0;
  const bool is_wrong_size = argc > 2 && !threads && one_size < static_cast<int>(sizeof(float));
  if (argc > 3 || batches < 1 || is_wrong_size) {
    std::fprintf(stderr, "usage: overhead [BATCHES [threads | BYTES]]\n");
    return 2;
  }
  const std::vector<int> sizes = one_size > 0
                                     ? std::vector<int>{one_size}
                                     : std::vector<int>(std::begin(kSizes), std::end(kSizes));
  const int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int size = 0;
  int rank = 0;
  int provided = level;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int verified = size <= 2 && provided >= level;
  if (provided < level) std::fprintf(stderr, "overhead: this MPI has no MPI_THREAD_MULTIPLE\n");
  if (size > 2) std::fprintf(stderr, "overhead: runs on 1 or 2 ranks, not %d\n", size);
  for (const int bytes : sizes) {
    verified = verified && measure(bytes, batches, rank, size);
    // Else one would wait for the other, who has left.
    MPI_Allreduce(MPI_IN_PLACE, &verified, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
