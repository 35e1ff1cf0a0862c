#include <cmath>

#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "simulate/simulate.h"

using namespace thinwire;

namespace {

constexpr std::uint64_t kMostRanks = 1 << 16;
constexpr std::uint64_t kMostCores = 1 << 12;
constexpr std::uint64_t kMostThreads = 64;
constexpr std::uint64_t kPiece = 1 << 20;
// Those of 3 GB; a block has no more pieces than 32 bits count.
constexpr std::uint64_t kMostTasks = 30'000'000;

bool is_sound(const tw_simulation_machine& machine, bool coded) {
  for (const double each :
       {machine.link_bytes_per_second, machine.latency_seconds, machine.message_seconds,
        machine.stack_bytes_per_second, machine.inside_bytes_per_second,
        machine.inside_latency_seconds, machine.copy_bytes_per_second, machine.call_seconds,
        machine.coding_seconds, machine.incast, machine.burst_bytes, machine.pause_seconds,
        machine.eager_bytes, machine.buffer_bytes}) {
    if (!capi::is_rate(each)) return false;
  }
  const bool has_cost = capi::is_cost(machine.cost) && (!coded || machine.cost.ratio > 0);
  return machine.link_bytes_per_second > 0 && machine.overlap >= 0 && machine.overlap <= 1 &&
         machine.cores <= kMostCores && machine.threads <= kMostThreads &&
         machine.one_machine <= 1 && machine.reserved == 0 && has_cost;
}

bool is_known(const tw_simulation_call& call) {
  const bool streams = call.in_streams == 1;
  const auto operations = streams ? collective::kSlotOperationCount : plan::kOperationCount;
  const bool pairs =
      streams && (call.operation == TW_STREAM_SEND || call.operation == TW_STREAM_RECEIVE);
  return call.in_streams <= 1 && call.operation < operations && !pairs &&
         call.algorithm < plan::kAlgorithmCount && call.coding < plan::kCodingCount &&
         call.dtype < kDtypeCount && call.nodes >= 1 && call.per_node >= 1 &&
         std::uint64_t{call.nodes} * call.per_node <= kMostRanks && call.folds_not <= 1 &&
         capi::is_size(call.piece_bytes) && call.count <= (std::uint64_t{1} << 44) &&
         call.capacity[0] <= 512 && call.capacity[1] <= 512 && call.most_tasks <= kMostTasks;
}

simulate::Machine machine_of(const tw_simulation_machine& from) {
  return {.link = from.link_bytes_per_second,
          .latency = from.latency_seconds,
          .message = from.message_seconds,
          .stack = from.stack_bytes_per_second,
          .inside = from.inside_bytes_per_second,
          .inside_latency = from.inside_latency_seconds,
          .copy = from.copy_bytes_per_second,
          .call = from.call_seconds,
          .coding = from.coding_seconds,
          .incast = from.incast,
          .overlap = from.overlap,
          .burst = from.burst_bytes,
          .pause = from.pause_seconds,
          .eager = from.eager_bytes,
          .buffer = from.buffer_bytes,
          .cores = from.cores,
          .threads = from.threads == 0 ? 1 : from.threads,
          .one_machine = from.one_machine == 1,
          .codec = {from.cost.encode_bytes_per_second, from.cost.decode_bytes_per_second,
                    from.cost.ratio}};
}

Result<simulate::Figures> in_streams(const tw_simulation_call& from, const codec::Spec& spec,
                                     const simulate::Machine& machine) {
  simulate::StreamCall call;
  call.operation = static_cast<collective::SlotOperation>(from.operation);
  call.dtype = static_cast<Dtype>(from.dtype);
  call.count = from.count;
  call.nodes = static_cast<int>(from.nodes);
  call.per_node = static_cast<int>(from.per_node);
  for (const std::size_t at : {0, 1}) {
    if (from.capacity[at] > 0) call.capacity[at] = from.capacity[at];
  }
  call.spec = spec;
  return simulate::simulate(call, machine);
}

Result<simulate::Figures> polled(const tw_simulation_call& from, const codec::Spec& spec,
                                 const simulate::Machine& machine) {
  simulate::Call call;
  call.operation = static_cast<plan::Operation>(from.operation);
  call.algorithm = static_cast<plan::Algorithm>(from.algorithm);
  call.coding = static_cast<plan::Coding>(from.coding);
  call.dtype = static_cast<Dtype>(from.dtype);
  call.count = from.count;
  call.nodes = static_cast<int>(from.nodes);
  call.per_node = static_cast<int>(from.per_node);
  call.piece_bytes = from.piece_bytes > 0 ? from.piece_bytes : kPiece;
  call.spec = spec;
  call.folds = from.folds_not == 0;
  call.most_tasks = from.most_tasks;
  return simulate::simulate(call, machine);
}

tw_simulation to_c(const simulate::Figures& from) {
  tw_simulation to{};
  to.simulated_ranks = from.simulated;
  to.seconds = from.seconds;
  to.link_bytes = from.link_bytes;
  to.inside_bytes = from.inside_bytes;
  to.messages = from.messages;
  to.most_messages = from.most_messages;
  to.workspace_bytes = from.workspace;
  to.tasks = from.tasks;
  to.piece_bytes = from.piece_bytes;
  return to;
}

}  // namespace

tw_status tw_simulate(const tw_codec* codec, const tw_simulation_machine* machine,
                      const tw_simulation_call* call, tw_simulation* simulation) {
  return capi::guarded([&] {
    const capi::Taken<tw_simulation_machine> own_machine(machine);
    const capi::Taken<tw_simulation_call> own(call);
    if (!capi::is_none_or_open(codec) || !own_machine || !own || !capi::has_size(simulation)) {
      return capi::misuse("tw_simulate: null pointer, destroyed codec, or a size that is not set");
    }
    const codec::Spec spec = codec == nullptr ? codec::Spec{} : codec->spec;
    const bool coded = spec.kind != codec::Spec::Kind::kOff;
    if (!is_sound(*own_machine, coded)) {
      return capi::misuse(
          "tw_simulate: a rate, time, share or cost of the machine that is none, or no link");
    }
    if (!is_known(*own)) {
      return capi::misuse(
          "tw_simulate: a field of the call that is not known, or too many ranks or tasks");
    }
    const simulate::Machine model = machine_of(*own_machine);
    const auto figures =
        own->in_streams == 1 ? in_streams(*own, spec, model) : polled(*own, spec, model);
    if (!figures.ok()) return capi::report(figures.status());
    if (!std::isfinite(figures->seconds)) {
      return capi::misuse("tw_simulate: the machine is so slow that no number says its time");
    }
    capi::give(to_c(*figures), simulation);
    return TW_OK;
  });
}
