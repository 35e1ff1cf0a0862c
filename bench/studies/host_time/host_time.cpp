// The host's time to enqueue a call of NCCL: its own, under the preload library, and the least that
// a compressed call asks of it. Rank 0 prints a JSON line for each operation, size, way and mode:
// microseconds of the slowest rank.
//
// One process a rank, placed by the environment as torchrun does it; measure.py starts them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.h"
#include "host_time/floor.h"
#include "nccl/meeting.h"

namespace thinwire::bench::host_time {
namespace {

using Clock = std::chrono::steady_clock;

// Calls of a way: apart, each after a barrier and with nothing under way; and in a row.
constexpr int kRounds = 10, kAtOnce = 20;
constexpr int kSteady = 20;  // compressed calls in a row, before anything is measured
constexpr auto kMostTime = std::chrono::seconds(20);

struct Options {
  std::string library = "libnccl.so.2", codec = "lossless";
  std::vector<std::int64_t> sizes{64 << 10, 1 << 20};
  std::vector<std::uint32_t> nodes;
};

struct Operation {
  const char* name;  // as the report has it
  tw_stream_operation planned;
  bool is_whole;  // the count is that of the whole array
};
constexpr Operation kOperations[] = {{"AllGather", TW_STREAM_ALLGATHER, false},
                                     {"ReduceScatter", TW_STREAM_REDUCE_SCATTER, false},
                                     {"AllReduce", TW_STREAM_ALLREDUCE, true}};

enum Way { kNative, kLaunches, kLargeLaunches, kExchanges, kLeast, kCompressed, kWays };
constexpr const char* kNames[] = {"native",    "launches", "large launches",
                                  "exchanges", "least",    "compressed"};

struct Job {
  const Options& options;
  const nccl::Place& place;
  nccl::Meeting& meeting;
  const nccl::Library& library;
  nccl::Device& device;
};

// One operation at one size, on a communicator of its own.
class Calls {
 public:
  // `bytes`: of the whole array of an AllReduce, else of a rank's block.
  Calls(const Job& job, const Operation& operation, std::int64_t bytes)
      : job_(job),
        operation_(operation),
        count_(static_cast<std::size_t>(bytes) / sizeof(float)),
        all_(operation.is_whole ? count_ : count_ * static_cast<std::size_t>(job.place.ranks)),
        send_(job.device, all_ * sizeof(float)),
        receive_(job.device, all_ * sizeof(float)),
        floor_({operation.planned, count_, job.options.codec.c_str(), job.options.nodes,
                job.place.rank},
               job.device) {
    const auto ids = job.meeting.all(job.place.rank == 0 ? job.library.make_id() : ncclUniqueId{});
    comm_ = job.library.make(job.place.ranks, ids.front(), job.place.rank);
    // Whole numbers, whose sums are exact in any order.
    std::vector<float> values(all_);
    for (std::size_t at = 0; at < all_; ++at) {
      values[at] =
          static_cast<float>(at / 64 % 512 + 100 * static_cast<std::size_t>(job.place.rank));
    }
    const auto* const bytes_of = reinterpret_cast<const char*>(values.data());
    job.device.write(send_.at(), {bytes_of, send_.bytes()});
  }
  ~Calls() {
    job_.device.synchronize();
    job_.library.end(comm_);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void enqueue(Way way) {
    const nccl::Calls& raw = job_.library.raw();
    if (way == kNative) return enqueue(raw);
    if (way == kCompressed) return enqueue(job_.library.plain());
    const Floor::Part parts[] = {Floor::Part::kLaunches, Floor::Part::kLargeLaunches,
                                 Floor::Part::kExchanges, Floor::Part::kAll};
    floor_.enqueue(parts[way - kLaunches], raw, comm_);
  }

  void finish() {
    job_.device.synchronize();
    job_.library.check(comm_);
  }

  std::vector<char> result(Way way) {
    receive_.clear();
    enqueue(way);
    finish();
    std::vector<char> values(receive_.bytes());
    job_.device.read(values, receive_.at());
    return values;
  }

  std::int64_t compressed() const { return job_.library.counts(operation_.name).compressed_calls; }
  const Floor& floor() const { return floor_; }

 private:
  void enqueue(const nccl::Calls& calls) {
    const cudaStream_t stream = job_.device.stream();
    if (operation_.planned == TW_STREAM_ALLGATHER) {
      nccl::check(calls.all_gather(send_.at(), receive_.at(), count_, ncclFloat32, comm_, stream),
                  "ncclAllGather");
    } else if (operation_.planned == TW_STREAM_ALLREDUCE) {
      nccl::check(
          calls.all_reduce(send_.at(), receive_.at(), count_, ncclFloat32, ncclSum, comm_, stream),
          "ncclAllReduce");
    } else {
      nccl::check(calls.reduce_scatter(send_.at(), receive_.at(), count_, ncclFloat32, ncclSum,
                                       comm_, stream),
                  "ncclReduceScatter");
    }
  }

  const Job& job_;
  const Operation& operation_;
  std::size_t count_, all_;
  nccl::Buffer send_, receive_;
  Floor floor_;
  ncclComm_t comm_ = nullptr;
};

// The report counts a call a moment after it is made.
constexpr auto kCounted = std::chrono::milliseconds(5);

void pause() {
  const auto until = Clock::now() + kCounted;
  while (Clock::now() < until) {
  }
}

void warm_up(const Job& job, Calls& calls) {
  const auto start = Clock::now();
  int steady = 0;
  while (steady < kSteady) {
    const std::int64_t before = calls.compressed();
    calls.enqueue(kCompressed);
    calls.finish();
    const int is_compressed = calls.compressed() > before ? 1 : 0;
    const auto all = job.meeting.all(is_compressed);
    steady = std::ranges::count(all, 1) == std::ssize(all) ? steady + 1 : 0;
    const auto taken = job.meeting.all(Clock::now() - start);
    if (std::ranges::max(taken) > kMostTime) throw std::runtime_error("calls stay raw");
    if (steady == 0) pause();
  }
  for (int way = 0; way < kWays; ++way) calls.enqueue(static_cast<Way>(way));
  calls.finish();
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double part_of(std::vector<double> times, double part) {
  std::ranges::sort(times);
  return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
}

struct Times {
  std::vector<double> apart, row;  // of the slowest rank, a call
};

void add_round(const Job& job, Calls& calls, Way way, Times& to) {
  std::array<double, kAtOnce> own{};
  for (double& each : own) {
    calls.finish();
    job.meeting.barrier();
    const auto begin = Clock::now();
    calls.enqueue(way);
    each = microseconds(Clock::now() - begin);
  }
  const auto all = job.meeting.all(own);
  for (std::size_t at = 0; at < kAtOnce; ++at) {
    double most = 0;
    for (const auto& each : all) most = std::max(most, each[at]);
    to.apart.push_back(most);
  }
  calls.finish();
  job.meeting.barrier();
  const auto begin = Clock::now();
  for (int call = 0; call < kAtOnce; ++call) calls.enqueue(way);
  const double mean = microseconds(Clock::now() - begin) / kAtOnce;
  to.row.push_back(std::ranges::max(job.meeting.all(mean)));
  calls.finish();
}

void print(const Operation& operation, std::int64_t bytes, const Floor& floor, int way,
           const char* mode, const std::vector<double>& times) {
  std::printf(
      "{\"program\": \"host_time\", \"operation\": \"%s\", \"bytes\": %lld, \"way\": \"%s\", "
      "\"mode\": \"%s\", \"kernels\": %d, \"messages\": %d, \"calls\": %zu, \"least\": %.2f, "
      "\"median\": %.2f, \"p90\": %.2f}\n",
      operation.name, static_cast<long long>(bytes), kNames[way], mode, floor.kernels(),
      floor.messages(), times.size(), part_of(times, 0), part_of(times, 0.5), part_of(times, 0.9));
}

void measure(const Job& job, const Operation& operation, std::int64_t bytes) {
  Calls calls(job, operation, bytes);
  warm_up(job, calls);
  if (calls.result(kNative) != calls.result(kCompressed)) throw std::runtime_error("wrong values");
  std::array<Times, kWays> times;
  std::int64_t made = calls.compressed();
  for (int round = 0; round < kRounds; ++round) {
    for (int way = 0; way < kWays; ++way) {
      add_round(job, calls, static_cast<Way>((way + round) % kWays),
                times[static_cast<std::size_t>((way + round) % kWays)]);
    }
  }
  pause();
  made = calls.compressed() - made;
  if (made != 2 * kRounds * kAtOnce) throw std::runtime_error("some calls were raw");
  if (job.place.rank != 0) return;
  for (std::size_t way = 0; way < kWays; ++way) {
    const auto number = static_cast<int>(way);
    print(operation, bytes, calls.floor(), number, "apart", times[way].apart);
    print(operation, bytes, calls.floor(), number, "in a row", times[way].row);
  }
  std::fflush(stdout);
}

bool parse(int argc, char** argv, int ranks, Options* options, std::string* error) {
  const bool sound = each_option(argc, argv, error, [&](const auto& name, const auto& value) {
    if (name == "--library") options->library = value;
    if (name == "--codec") options->codec = value;
    if (name == "--sizes") return parse_sizes(value, &options->sizes);
    if (name != "--nodes") return name == "--library" || name == "--codec";
    return each_word(value, [&](std::string_view word) {
      return parse_number<std::uint32_t>(word, 0, &options->nodes.emplace_back());
    });
  });
  if (sound && options->nodes.size() != static_cast<std::size_t>(ranks)) *error = "--nodes";
  return sound && error->empty();
}

[[noreturn]] void tell_and_end() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "host_time: %s\n", failure.what());
  } catch (...) {
    std::fputs("host_time: ended\n", stderr);
  }
  std::_Exit(1);
}

void run(const Options& options, const nccl::Place& place) {
  nccl::Meeting meeting(place);
  const nccl::Library library(options.library);
  const auto device = library.is_on_host() ? nccl::make_host_device(library)
                                           : nccl::make_gpu_device(place.local_rank);
  const Job job{options, place, meeting, library, *device};
  for (const Operation& operation : kOperations) {
    for (const std::int64_t bytes : options.sizes) measure(job, operation, bytes);
  }
  meeting.barrier();
}

}  // namespace
}  // namespace thinwire::bench::host_time

int main(int argc, char** argv) {
  using namespace thinwire::bench;
  host_time::Options options;
  nccl::Place place;
  std::string error;
  if (!nccl::read_place(&place, &error) ||
      !host_time::parse(argc, argv, place.ranks, &options, &error)) {
    std::fprintf(stderr, "host_time: %s\n", error.c_str());
    return 2;
  }
  // Who gives memory back would wait for a rank that has gone.
  std::set_terminate(host_time::tell_and_end);
  host_time::run(options, place);
}
