// One-way time of fp32 messages between ranks 0 and 1, every one of them verified. A plain MPI
// program, which knows of no compression; rank 0 prints a JSON line a size.
//
// Latency is half the round trip. A shaped link lets a burst through at full speed after a pause,
// so an untimed filler, sent as bytes and acknowledged, goes ahead of each timed message in its
// direction. The filler of the way back falls into the round trip: rank 1 tells how long it took
// on its own clock, and that is taken off. Bandwidth is a window of messages and an empty answer.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "p2p_data.h"
#include "p2p_options.h"

namespace thinwire::bench {
namespace {

constexpr int kDataTag = 1;
constexpr int kFillerTag = 2;
constexpr int kAnswerTag = 3;
constexpr int kWarmups = 2;
constexpr int kWindow = 8;

class Pair {
 public:
  Pair(int rank, std::int64_t filler)
      : rank_(rank), other_(1 - rank), filler_(static_cast<std::size_t>(filler)) {}

  bool is_first() const { return rank_ == 0; }
  int other() const { return other_; }

  // Empties what a pause has filled up on the way from `rank`. Both call it; when it returns on
  // the sender, nothing is under way and the receiver is ready.
  void fill(int rank) {
    const auto bytes = static_cast<int>(filler_.size());
    if (rank == rank_) {
      MPI_Send(filler_.data(), bytes, MPI_BYTE, other_, kFillerTag, MPI_COMM_WORLD);
      wait_for_answer();
    } else {
      MPI_Recv(filler_.data(), bytes, MPI_BYTE, other_, kFillerTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      answer();
    }
  }

  void answer() { MPI_Send(nullptr, 0, MPI_BYTE, other_, kAnswerTag, MPI_COMM_WORLD); }
  void wait_for_answer() {
    MPI_Recv(nullptr, 0, MPI_BYTE, other_, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

 private:
  int rank_;
  int other_;
  std::vector<char> filler_;
};

// Seconds of half a round trip, on rank 0.
double time_latency(Pair& pair, std::span<const float> data, Arrivals& arrivals) {
  const auto count = static_cast<int>(data.size());
  float* target = arrivals.prepare();
  double turn_seconds = 0;
  pair.fill(0);
  const double start = MPI_Wtime();
  if (pair.is_first()) {
    MPI_Send(data.data(), count, MPI_FLOAT, 1, kDataTag, MPI_COMM_WORLD);
    pair.fill(1);
    MPI_Recv(target, count, MPI_FLOAT, 1, kDataTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(target, count, MPI_FLOAT, 0, kDataTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double arrived = MPI_Wtime();
    pair.fill(1);
    turn_seconds = MPI_Wtime() - arrived;
    MPI_Send(data.data(), count, MPI_FLOAT, 0, kDataTag, MPI_COMM_WORLD);
  }
  const double round_trip = MPI_Wtime() - start;
  if (pair.is_first()) {
    MPI_Recv(&turn_seconds, 1, MPI_DOUBLE, 1, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&turn_seconds, 1, MPI_DOUBLE, 0, kAnswerTag, MPI_COMM_WORLD);
  }
  arrivals.check();
  return (round_trip - turn_seconds) / 2;
}

// Seconds a message of a window from rank 0 to rank 1, on rank 0.
double time_window(Pair& pair, std::span<const float> data, std::vector<Arrivals>& window) {
  const auto count = static_cast<int>(data.size());
  MPI_Request requests[kWindow];
  if (!pair.is_first()) {
    for (int i = 0; i < kWindow; ++i) {
      MPI_Irecv(window[i].prepare(), count, MPI_FLOAT, 0, kDataTag, MPI_COMM_WORLD, &requests[i]);
    }
  }
  pair.fill(0);
  const double start = MPI_Wtime();
  if (pair.is_first()) {
    for (MPI_Request& request : requests) {
      MPI_Isend(data.data(), count, MPI_FLOAT, 1, kDataTag, MPI_COMM_WORLD, &request);
    }
  }
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  if (pair.is_first()) {
    pair.wait_for_answer();
    return (MPI_Wtime() - start) / kWindow;
  }
  pair.answer();
  for (Arrivals& arrivals : window) arrivals.check();
  return 0;
}

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
  std::vector<Arrivals> arrivals;
  for (int i = 0; receives && i < (latency ? 1 : kWindow); ++i) arrivals.emplace_back(data);
  Outcome outcome;
  for (int i = 0; i < kWarmups + options.iterations; ++i) {
    const double seconds =
        latency ? time_latency(pair, data, arrivals.front()) : time_window(pair, data, arrivals);
    if (i >= kWarmups) outcome.seconds.push_back(seconds);
  }
  std::sort(outcome.seconds.begin(), outcome.seconds.end());
  judge(arrivals, outcome);
  return outcome;
}

void print(std::int64_t bytes, const Options& options, const Outcome& outcome) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  const std::vector<double>& seconds = outcome.seconds;
  // Of both ranks, untimed ones included.
  const std::size_t per_iteration = options.mode == Mode::kLatency ? 2 : kWindow;
  const std::size_t messages = per_iteration * (kWarmups + seconds.size());
  std::printf(
      "{\"program\": \"p2p\", \"mode\": \"%s\", \"bytes\": %lld, \"iterations\": %zu, "
      "\"messages\": %zu, \"filler\": %lld, \"min\": %.9f, \"median\": %.9f, \"max\": %.9f, "
      "\"max_error\": %.17g, \"identical\": %s, \"verified\": %s}\n",
      options.mode == Mode::kLatency ? "latency" : "bandwidth", static_cast<long long>(bytes),
      seconds.size(), messages, static_cast<long long>(options.filler), seconds.front(),
      seconds[seconds.size() / 2], seconds.back(), outcome.max_error, text(outcome.identical),
      text(outcome.verified));
  std::fflush(stdout);
}

int run(int rank, const Options& options) {
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
    if (rank == 0) print(bytes, options, outcome);
  }
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::bench

int main(int argc, char** argv) {
  using namespace thinwire::bench;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Options options;
  std::string error;
  int code = 2;
  if (!parse_options(argc, argv, &options, &error) || size != 2) {
    if (rank == 0) {
      if (error.empty()) error = "runs on 2 ranks, not " + std::to_string(size);
      std::fprintf(stderr, "p2p: %s\n%s\n", error.c_str(), usage());
    }
  } else {
    code = run(rank, options);
  }
  MPI_Finalize();
  return code;
}
