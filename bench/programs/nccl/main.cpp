// NCCL's operations by NCCL's own functions, by the names that a preload library takes, and as
// rings of compressed messages, by turns in one job, every result verified. Rank 0 prints a JSON
// line for each operation, size and way.
//
// Seconds are those of the slowest rank, from a barrier on. A shaped link lets a burst through at
// full speed after a pause, so an untimed filler goes ahead on every link in both directions.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.h"
#include "nccl/measure.h"

namespace thinwire::bench::nccl {
namespace {

// Lossy results without a stated bound are values at all if the error is less than this share of
// them, by squares: zeros, or values of another block, are not.
constexpr double kMostError = 0.5;

bool is_right(const Outcome& outcome) {
  return outcome.wrong == 0 && outcome.relative_error < kMostError;
}

// Means of rank 0, a call.
void print_phases(const Outcome& outcome, int calls) {
  const double count = static_cast<double>(outcome.seconds.size()) * calls;
  const Phases& taken = outcome.phases;
  if (outcome.way < Way::kNaive || count == 0) return;
  std::printf(
      "\"allocate_seconds\": %.9g, \"encode_seconds\": %.9g, \"copy_seconds\": %.9g, "
      "\"transfer_seconds\": %.9g, \"decode_seconds\": %.9g, ",
      taken.allocate / count, taken.encode / count, taken.copy / count, taken.transfer / count,
      taken.decode / count);
}

void print(const Job& job, const Measurement& all) {
  for (const Outcome& each : all.ways) {
    std::printf(
        "{\"program\": \"nccl\", \"operation\": \"%s\", \"bytes\": %lld, \"count\": %lld, "
        "\"ranks\": %d, \"way\": \"%s\", \"memory\": \"%s\", \"gpu\": %s, \"nccl_version\": %d, "
        "\"iterations\": %zu, \"calls_a_turn\": %d, ",
        name_of(all.operation), static_cast<long long>(all.bytes),
        static_cast<long long>(all.count), job.place.ranks, name_of(each.way),
        job.library.is_on_host() ? "host" : "device", quoted(job.device.name()).c_str(),
        job.library.version(), each.seconds.size(), job.options.calls);
    print_seconds("", each.seconds);
    print_seconds("host_", each.host_seconds);
    print_phases(each, job.options.calls);
    std::printf(
        "\"wrong\": %lld, \"sound\": %s, \"identical\": %s, \"max_error\": %.17g, "
        "\"relative_error\": %.6g, \"calls\": %lld, \"compressed_calls\": %lld, "
        "\"raw_bytes\": %lld, \"wire_bytes\": %lld, \"spilled_blocks\": %lld, "
        "\"warm_up_calls\": %d, \"why_raw\": %s, \"presence\": %s}\n",
        static_cast<long long>(each.wrong), is_right(each) ? "true" : "false",
        each.identical ? "true" : "false", each.max_error, each.relative_error,
        static_cast<long long>(each.counts.calls),
        static_cast<long long>(each.counts.compressed_calls),
        static_cast<long long>(each.counts.bytes), static_cast<long long>(each.counts.wire_bytes),
        static_cast<long long>(each.counts.spilled_blocks), each.warm_up_calls,
        quoted(each.why_raw).c_str(), quoted(all.presence).c_str());
  }
  std::fflush(stdout);
}

[[noreturn]] void tell_and_end() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& failure) {
    const char* const rank = std::getenv("RANK");
    std::fprintf(stderr, "nccl: rank %s: %s\n", rank == nullptr ? "0" : rank, failure.what());
  } catch (...) {
    std::fputs("nccl: ended\n", stderr);
  }
  std::_Exit(1);
}

int run(const Options& options, const Place& place) {
  const Data data(options.data, options.dtype);
  if (data.empty()) throw std::runtime_error("there are no values in " + options.data);
  Meeting meeting(place);
  const Library library(options.library);
  const std::unique_ptr<Device> device =
      library.is_on_host() ? make_host_device(library) : make_gpu_device(place.local_rank);
  const Job job{options, place, meeting, library, *device, data};
  bool verified = true;
  for (const Operation operation : options.operations) {
    for (const std::int64_t bytes : options.sizes) {
      const Measurement all = measure(job, operation, bytes);
      if (place.rank == 0) print(job, all);
      for (const Outcome& each : all.ways) {
        verified = verified && is_right(each) && (each.identical || each.way >= Way::kPerHop);
      }
    }
  }
  meeting.barrier();
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::bench::nccl

int main(int argc, char** argv) {
  namespace nccl = thinwire::bench::nccl;
  nccl::Options options;
  nccl::Place place;
  std::string error;
  if (!nccl::parse_options(argc, argv, &options, &error) || !nccl::read_place(&place, &error)) {
    std::fprintf(stderr, "nccl: %s\n%s\n", error.c_str(), nccl::usage());
    return 2;
  }
  // Exceptions are not caught: who gives memory back waits for the stream, which may wait for a
  // rank that has gone.
  std::set_terminate(nccl::tell_and_end);
  return nccl::run(options, place);
}
