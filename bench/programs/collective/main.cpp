// Collectives of the library over MPI beside the MPI's own, in turns in one job, every result
// verified. Rank 0 prints a JSON line for each operation, size and case.
//
// Seconds are those of the slowest rank, from a barrier on. A shaped link lets a burst through at
// full speed after a pause, so an untimed filler goes ahead on every link in both directions.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "collective/calls.h"
#include "collective/data.h"
#include "collective/measure.h"
#include "collective/options.h"
#include "command_line.h"

namespace thinwire::bench {
namespace {

void print_runs(const Outcome& native, const Outcome& outcome) {
  const tw_collective_report& report = outcome.report;
  print_seconds("", outcome.seconds);
  print_seconds("native_", native.seconds);
  std::printf(
      "\"iterations\": %zu, \"algorithm\": \"%s\", \"coding\": \"%s\", \"reason\": %s, "
      "\"wrong\": %lld, \"native_wrong\": %lld, \"identical\": %s, \"max_error\": %.17g, "
      "\"native_max_error\": %.17g, \"bound\": %.17g, \"raw_bytes\": %llu, \"wire_bytes\": %llu, "
      "\"packets\": %llu, \"raw_packets\": %llu, \"workspace_bytes\": %llu, "
      "\"encode_seconds\": %.9f, \"decode_seconds\": %.9f, \"predicted\": %.9f, "
      "\"predicted_raw\": %.9f",
      outcome.seconds.size(), tw_algorithm_text(report.algorithm), tw_coding_text(report.coding),
      quoted(report.reason == TW_COMPRESS ? ""
                                          : tw_reason_text(static_cast<tw_reason>(report.reason)))
          .c_str(),
      static_cast<long long>(outcome.wrong), static_cast<long long>(native.wrong),
      outcome.identical ? "true" : "false", outcome.max_error, native.max_error, report.bound,
      static_cast<unsigned long long>(report.raw_bytes),
      static_cast<unsigned long long>(report.wire_bytes),
      static_cast<unsigned long long>(report.packets),
      static_cast<unsigned long long>(report.raw_packets),
      static_cast<unsigned long long>(report.workspace_bytes), report.encode_seconds,
      report.decode_seconds, report.predicted_seconds, report.predicted_raw_seconds);
}

void print(const Options& options, const Measurement& all, const Group& group, int nodes,
           const Gpu& gpu) {
  const std::vector<Case> cases = options.cases();
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const Outcome& outcome = all.cases[at];
    std::printf(
        "{\"program\": \"collective\", \"operation\": \"%s\", \"bytes\": %lld, \"count\": %lld, "
        "\"ranks\": %d, \"nodes\": %d, \"memory\": \"%s\", \"gpu\": %s, \"codec\": %s, "
        "\"asked_algorithm\": \"%s\", \"asked_coding\": \"%s\", ",
        tw_operation_text(all.operation), static_cast<long long>(all.bytes),
        static_cast<long long>(all.count), group.size, nodes,
        options.memory == Memory::kDevice ? "device" : "host", quoted(gpu.name).c_str(),
        quoted(cases[at].codec).c_str(), tw_algorithm_text(cases[at].algorithm),
        tw_coding_text(cases[at].coding));
    if (outcome.error.empty()) {
      print_runs(all.native, outcome);
    } else {
      std::printf("\"error\": %s", quoted(outcome.error).c_str());
    }
    std::printf("}\n");
  }
  std::fflush(stdout);
}

// Empty if the options suit this job.
std::string problem_of(const Options& options, const Group& group, const Data& data) {
  if (data.empty()) return "there are no values in " + options.data;
  if (options.root >= group.size) return "there is no rank " + std::to_string(options.root);
  for (const std::int64_t size : options.sizes) {
    if (size > INT32_MAX) return "one call of MPI's has a count of type int";
  }
  return "";
}

int run(const Options& options, Group group) {
  group.root = options.root;
  const Data data(options.data, options.dtype);
  std::string error = problem_of(options, group, data);
  Nodes nodes(options.filler);
  Gpu gpu;
  if (error.empty() && options.memory == Memory::kDevice) {
    choose_gpu(nodes.local_rank(), &gpu, &error);
  }
  if (!error.empty()) {
    std::fprintf(stderr, "collective: rank %d: %s\n", group.rank, error.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Communicator communicator(options, nodes.of_ranks());
  bool verified = true;
  for (const tw_operation operation : options.operations) {
    for (const std::int64_t bytes : options.sizes) {
      const Measurement all = measure(options, data, group, nodes, communicator, operation, bytes);
      if (group.rank == 0) print(options, all, group, nodes.count(), gpu);
      for (const Outcome& one : all.cases) verified = verified && one.wrong == 0 && one.identical;
    }
  }
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::bench

int main(int argc, char** argv) {
  using thinwire::bench::Group;
  using thinwire::bench::Options;
  MPI_Init(&argc, &argv);
  Group group;
  MPI_Comm_rank(MPI_COMM_WORLD, &group.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &group.size);
  Options options;
  std::string error;
  int code = 2;
  if (!thinwire::bench::parse_options(argc, argv, &options, &error)) {
    if (group.rank == 0) {
      std::fprintf(stderr, "collective: %s\n%s\n", error.c_str(), thinwire::bench::usage());
    }
  } else {
    try {
      code = thinwire::bench::run(options, group);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "collective: rank %d: %s\n", group.rank, failure.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return code;
}
