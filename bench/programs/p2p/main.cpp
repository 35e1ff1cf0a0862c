// One-way time of fp32 messages between ranks 0 and 1, every one of them verified. A plain MPI
// program, which knows of no compression; rank 0 prints a JSON line a size.
//
// Latency is half the round trip. A shaped link lets a burst through at full speed after a pause,
// so an untimed filler, sent as bytes and acknowledged, goes ahead of each timed message in its
// direction. The filler of the way back falls into the round trip: rank 1 tells how long it took
// on its own clock, and that is taken off. Bandwidth is a window of messages and an empty answer.
// A message begins and ends where its values belong: with GPU memory, copies to and from it are
// part of the time.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "p2p/buffers.h"
#include "p2p/exchange.h"
#include "p2p/options.h"

namespace thinwire::bench {
namespace {

constexpr int kWarmups = 2;

struct Outcome {
  std::vector<double> seconds;
  double max_error = 0;
  bool identical = true;
  bool verified = true;
};

// The worse of both ranks, on rank 0.
void judge(const std::vector<Arrivals>& all, Outcome& outcome) {
  double own[3] = {0, 0, 0};
  double worst[3] = {0, 0, 0};
  for (const Arrivals& arrivals : all) {
    own[0] = std::max(own[0], arrivals.max_error());
    own[1] = std::max(own[1], arrivals.identical() ? 0.0 : 1.0);
    own[2] = std::max(own[2], arrivals.broken() ? 1.0 : 0.0);
  }
  MPI_Reduce(own, worst, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  outcome.max_error = worst[0];
  outcome.identical = worst[1] == 0;
  outcome.verified = worst[2] == 0;
}

Outcome measure(Pair& pair, std::span<const float> data, const Options& options) {
  const bool latency = options.mode == Mode::kLatency;
  // In a window rank 0 receives nothing.
  const bool receives = latency || !pair.is_first();
  Departures departures(data, options.memory, latency ? 1 : kWindow);
  std::vector<Arrivals> arrivals;
  for (int i = 0; receives && i < (latency ? 1 : kWindow); ++i) {
    arrivals.emplace_back(data, options.memory);
  }
  Outcome outcome;
  for (int i = 0; i < kWarmups + options.iterations; ++i) {
    const double seconds = latency ? time_latency(pair, departures, arrivals.front())
                                   : time_window(pair, departures, arrivals);
    if (i >= kWarmups) outcome.seconds.push_back(seconds);
  }
  std::sort(outcome.seconds.begin(), outcome.seconds.end());
  judge(arrivals, outcome);
  return outcome;
}

void print(std::int64_t bytes, const Options& options, const Outcome& outcome,
           const std::string& gpus) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  const std::vector<double>& seconds = outcome.seconds;
  // Messages of both ranks, untimed ones included.
  const std::size_t per_iteration = options.mode == Mode::kLatency ? 2 : kWindow;
  const std::size_t messages = per_iteration * (kWarmups + seconds.size());
  std::printf(
      "{\"program\": \"p2p\", \"mode\": \"%s\", \"memory\": \"%s\", \"gpus\": [%s], "
      "\"bytes\": %lld, \"iterations\": %zu, "
      "\"messages\": %zu, \"filler\": %lld, \"min\": %.9f, \"median\": %.9f, \"max\": %.9f, "
      "\"max_error\": %.17g, \"identical\": %s, \"verified\": %s}\n",
      options.mode == Mode::kLatency ? "latency" : "bandwidth", name_of(options.memory),
      gpus.c_str(), static_cast<long long>(bytes), seconds.size(), messages,
      static_cast<long long>(options.filler), seconds.front(), seconds[seconds.size() / 2],
      seconds.back(), outcome.max_error, text(outcome.identical), text(outcome.verified));
  std::fflush(stdout);
}

// Whether somebody takes GPU memory from MPI's callers: an MPI that says so, or the preload library
// in front of one that does not.
bool takes_gpu_memory() {
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload != nullptr && std::string_view(preload).find("thinwire") != std::string_view::npos) {
    return true;
  }
#ifdef OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() != 0;
#else
  return true;  // An MPI that cannot be asked.
#endif
}

int local_rank() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

// Chooses each rank's GPU where the messages are to lie on one. `gpus` becomes both ranks' as JSON
// strings, on rank 0; false and a sentence on every rank that has none.
bool prepare_gpus(const Options& options, int rank, std::string* gpus, std::string* error) {
  if (options.memory == Memory::kHost) return true;
  Gpu gpu;
  const int local = local_rank();
  int ready = choose_gpu(local, &gpu, error) ? 1 : 0;
  if (ready == 1 && options.memory == Memory::kDevice && !takes_gpu_memory()) {
    *error = "this MPI takes no GPU memory: preload the shim, or use --memory staged";
    ready = 0;
  }
  char own[128] = "";
  char both[2][sizeof own] = {};
  std::snprintf(own, sizeof own, "\"%s %s\"", gpu.name.c_str(), gpu.bus.c_str());
  MPI_Gather(own, sizeof own, MPI_CHAR, both, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
  int all_ready = 0;
  MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) *gpus = std::string(both[0]) + ", " + both[1];
  if (all_ready == 0 && ready == 1) *error = "the other rank has no GPU to use";
  return all_ready == 1;
}

int run(int rank, const Options& options, const std::string& gpus) {
  const auto most = static_cast<std::size_t>(options.largest()) / sizeof(float);
  const std::vector<float> values = make_data(options.data, options.pattern, most);
  if (values.empty()) {
    std::fprintf(stderr, "p2p: rank %d cannot read values from %s\n", rank, options.data.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Pair pair(rank, options.filler);
  bool verified = true;
  for (const std::int64_t bytes : options.sizes) {
    const std::span<const float> data(values.data(),
                                      static_cast<std::size_t>(bytes) / sizeof(float));
    const Outcome outcome = measure(pair, data, options);
    verified = verified && outcome.verified;
    if (rank == 0) print(bytes, options, outcome, gpus);
  }
  return verified ? 0 : 1;
}

int start(int argc, char** argv, int rank, int size) {
  Options options;
  std::string error;
  if (!parse_options(argc, argv, &options, &error) || size != 2) {
    if (error.empty()) error = "runs on 2 ranks, not " + std::to_string(size);
    if (rank == 0) std::fprintf(stderr, "p2p: %s\n%s\n", error.c_str(), usage());
    return 2;
  }
  std::string gpus;
  if (!prepare_gpus(options, rank, &gpus, &error)) {
    if (rank == 0) {
      std::fprintf(stderr, "p2p: --memory %s: %s\n", name_of(options.memory), error.c_str());
    }
    return 2;
  }
  return run(rank, options, gpus);
}

}  // namespace
}  // namespace thinwire::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 1;
  try {
    code = thinwire::bench::start(argc, argv, rank, size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "p2p: rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
