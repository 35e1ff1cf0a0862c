#include "collective/measure.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "collective/calls.h"

namespace thinwire::bench {
namespace {

constexpr int kWarmups = 1;

// At least one: a buffer of nothing is an error to some allocators.
std::size_t floats_in(std::int64_t bytes) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(bytes + 3) / sizeof(float));
}

// Buffers of one kind of memory, and how values get there and back.
class Buffers {
 public:
  Buffers(Memory memory, std::vector<char> values, bool is_bcast, std::int64_t received_bytes)
      : values_(std::move(values)),
        is_bcast_(is_bcast),
        send_(make_buffer(memory,
                          floats_in(is_bcast ? 0 : static_cast<std::int64_t>(values_.size())))),
        receive_(make_buffer(memory, floats_in(received_bytes))),
        back_(floats_in(received_bytes)),
        received_bytes_(static_cast<std::size_t>(received_bytes)) {
    // As the floats that buffers are made of: bits are copied, not looked at.
    values_.resize(floats_in(static_cast<std::int64_t>(values_.size())) * sizeof(float));
    if (!is_bcast_) send_->write(words());
  }

  // Clears what an earlier run left; of Bcast the root's array is `values`.
  void prepare(bool is_root) {
    receive_->clear();
    if (is_bcast_ && is_root) receive_->write(words());
  }

  // Steps that a program which stages by hand does before and after MPI's call.
  void before(bool is_root) { (is_bcast_ && is_root ? receive_ : send_)->before_send(); }
  void after(bool is_root) {
    if (!(is_bcast_ && is_root)) receive_->after_receive();
  }

  const void* send() { return send_->message(); }
  void* receive() { return receive_->message(); }

  std::span<const char> received() {
    receive_->read(back_);
    return {reinterpret_cast<const char*>(back_.data()), received_bytes_};
  }

 private:
  std::span<const float> words() const {
    return {reinterpret_cast<const float*>(values_.data()), values_.size() / sizeof(float)};
  }

  std::vector<char> values_;
  bool is_bcast_;
  std::unique_ptr<Buffer> send_;
  std::unique_ptr<Buffer> receive_;
  std::vector<float> back_;
  std::size_t received_bytes_;
};

void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(own, all, count, type, op, MPI_COMM_WORLD);
}

void add_report(const tw_collective_report& own, Outcome& outcome) {
  tw_collective_report& all = outcome.report;
  all = own;
  reduce(&own.raw_bytes, &all.raw_bytes, 1, MPI_UINT64_T, MPI_SUM);
  reduce(&own.wire_bytes, &all.wire_bytes, 1, MPI_UINT64_T, MPI_SUM);
  reduce(&own.packets, &all.packets, 1, MPI_UINT64_T, MPI_SUM);
  reduce(&own.raw_packets, &all.raw_packets, 1, MPI_UINT64_T, MPI_SUM);
  reduce(&own.workspace_bytes, &all.workspace_bytes, 1, MPI_UINT64_T, MPI_MAX);
  reduce(&own.encode_seconds, &all.encode_seconds, 1, MPI_DOUBLE, MPI_MAX);
  reduce(&own.decode_seconds, &all.decode_seconds, 1, MPI_DOUBLE, MPI_MAX);
  reduce(&own.bound, &all.bound, 1, MPI_DOUBLE, MPI_MAX);
}

void add_run(double seconds, const Judgement& own, bool gets_shared, bool is_timed,
             Outcome& outcome) {
  double slowest = 0;
  reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX);
  if (is_timed) outcome.seconds.push_back(slowest);
  std::int64_t wrong = 0;
  reduce(&own.wrong, &wrong, 1, MPI_INT64_T, MPI_SUM);
  outcome.wrong += wrong;
  double error = 0;
  reduce(&own.max_error, &error, 1, MPI_DOUBLE, MPI_MAX);
  outcome.max_error = std::max(outcome.max_error, error);
  // A rank that compares nothing takes no part in either.
  std::uint64_t least = gets_shared ? own.hash : UINT64_MAX;
  std::uint64_t most = gets_shared ? own.hash : 0;
  reduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN);
  reduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX);
  outcome.identical = outcome.identical && least >= most;
}

// Calls `run` after a filler; seconds of this rank.
template <typename Run>
double timed(Nodes& nodes, Buffers& buffers, bool is_root, Run run) {
  buffers.prepare(is_root);
  nodes.fill();
  const double start = MPI_Wtime();
  buffers.before(is_root);
  run();
  buffers.after(is_root);
  return MPI_Wtime() - start;
}

// The turns of one operation at one size.
class Turns {
 public:
  Turns(const Options& options, const Data& data, const Group& group, Nodes& nodes,
        Communicator& communicator, tw_operation operation, std::int64_t count)
      : options_(options),
        group_(group),
        nodes_(nodes),
        communicator_(communicator),
        operation_(operation),
        count_(count),
        check_(data, operation, options.dtype, group, count) {
    const std::int64_t received = received_count(operation, group, count) * size_of(options.dtype);
    const std::vector<char> sent = data.sent(operation, group, count);
    const bool on_device = options.memory == Memory::kDevice;
    const bool is_bcast = operation == TW_BCAST;
    native_ = std::make_unique<Buffers>(on_device ? options.native_memory : Memory::kHost, sent,
                                        is_bcast, received);
    compressed_ = std::make_unique<Buffers>(options.memory, sent, is_bcast, received);
  }

  void run_native(bool is_timed, Outcome& outcome) {
    Buffers& buffers = *native_;
    const double seconds = timed(nodes_, buffers, group_.is_root(), [&] {
      bench::run_native(operation_, options_.dtype, group_, count_, buffers.send(),
                        buffers.receive());
    });
    add_run(seconds, check_.judge(buffers.received(), {}), gets_shared(operation_, group_),
            is_timed, outcome);
  }

  void run_case(const Case& one, const Codec& codec, bool is_timed, Outcome& outcome) {
    Buffers& buffers = *compressed_;
    tw_collective call = make_call(options_, operation_, one, codec, count_);
    call.send = operation_ == TW_BCAST ? nullptr : buffers.send();
    call.receive = buffers.receive();
    if (outcome.seconds.empty()) outcome.error = communicator_.refusal(call);
    if (!outcome.error.empty()) return;
    tw_collective_report report{};
    const double seconds =
        timed(nodes_, buffers, group_.is_root(), [&] { report = communicator_.run(call); });
    const bool lossless = codec.is_lossless() || report.reason != TW_COMPRESS;
    add_run(seconds, check_.judge(buffers.received(), {lossless, report.bound}),
            gets_shared(operation_, group_), is_timed, outcome);
    add_report(report, outcome);
  }

 private:
  const Options& options_;
  Group group_;
  Nodes& nodes_;
  Communicator& communicator_;
  tw_operation operation_;
  std::int64_t count_;
  Check check_;
  // Bcast is received where it is sent from; a program that stages by hand has memory of its own.
  std::unique_ptr<Buffers> native_;
  std::unique_ptr<Buffers> compressed_;
};

}  // namespace

Measurement measure(const Options& options, const Data& data, const Group& group, Nodes& nodes,
                    Communicator& communicator, tw_operation operation, std::int64_t bytes) {
  const std::int64_t count = bytes / size_of(options.dtype);
  const std::vector<Case> cases = options.cases();
  std::vector<std::unique_ptr<Codec>> codecs;
  for (const Case& one : cases) codecs.push_back(std::make_unique<Codec>(one.codec));

  Measurement all{operation, bytes, count, {}, std::vector<Outcome>(cases.size())};
  Turns turns(options, data, group, nodes, communicator, operation, count);
  for (int i = 0; i < kWarmups + options.iterations; ++i) {
    const bool is_timed = i >= kWarmups;
    turns.run_native(is_timed, all.native);
    for (std::size_t at = 0; at < cases.size(); ++at) {
      turns.run_case(cases[at], *codecs[at], is_timed, all.cases[at]);
    }
  }
  std::sort(all.native.seconds.begin(), all.native.seconds.end());
  for (Outcome& one : all.cases) std::sort(one.seconds.begin(), one.seconds.end());
  return all;
}

}  // namespace thinwire::bench
