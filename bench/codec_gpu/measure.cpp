#include "measure.h"

namespace thinwire::bench {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// Polls the word that the GPU writes.
std::uint64_t await(const PinnedWord& word) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t value = word.load();
  for (std::uint64_t polls = 1; value == 0; ++polls) {
    value = word.load();
    if (polls % 100000 == 0 && std::chrono::steady_clock::now() - start > kPatience) {
      throw std::runtime_error("the GPU wrote no outcome");
    }
  }
  return value;
}

// Every encode of the case must come to the same.
class Encodes {
 public:
  explicit Encodes(Measured& measured) : measured_(measured) {}

  void see(std::uint64_t outcome) {
    std::uint64_t bytes = 0;
    const tw_status status = tw_outcome_read(outcome, &bytes);
    if (status != TW_DECLINED) check(status);
    const bool declined = status == TW_DECLINED;
    if (declined) bytes = 0;
    if (seen_ && (declined != measured_.declined || bytes != measured_.frame_bytes)) {
      throw std::runtime_error("the same array gave frames of different sizes");
    }
    seen_ = true;
    measured_.declined = declined;
    measured_.frame_bytes = bytes;
  }

 private:
  Measured& measured_;
  bool seen_ = false;
};

void see_decode(std::uint64_t outcome) {
  std::uint64_t bytes = 0;
  if (outcome == 0) throw std::runtime_error("the GPU wrote no outcome");
  check(tw_outcome_read(outcome, &bytes));
}

// A graph of one encode for each slot that the calls touch.
class EncodeGraphs {
 public:
  EncodeGraphs(const Coder& coder, const Slots& slots, const Stream& stream,
               const PinnedWord& outcome, std::uint64_t wanted) {
    for (std::uint64_t slot = 0; slot < std::min(slots.count(), wanted); ++slot) {
      cudaGraph_t graph = nullptr;
      check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
      coder.encode(slots.array(slot), slots.frame(slot), outcome.get());
      check(cudaStreamEndCapture(stream.get(), &graph));
      cudaGraphExec_t runnable = nullptr;
      const cudaError_t error = cudaGraphInstantiate(&runnable, graph, 0);
      cudaGraphDestroy(graph);
      check(error);
      graphs_.push_back(runnable);
      check(cudaGraphUpload(runnable, stream.get()));
    }
    stream.finish();
  }
  EncodeGraphs(const EncodeGraphs&) = delete;
  EncodeGraphs& operator=(const EncodeGraphs&) = delete;
  ~EncodeGraphs() {
    for (const cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
  }

  void launch(int call, const Stream& stream) const {
    check(cudaGraphLaunch(graphs_[static_cast<std::size_t>(call) % graphs_.size()], stream.get()));
  }

 private:
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace

Measured measure(const Coder& coder, const Slots& slots, const Stream& stream,
                 const DeviceBytes& flush) {
  Measured measured;
  PinnedWord outcome;
  Encodes encodes(measured);
  const int calls = timed_calls(coder.array_bytes());
  const auto encode = [&](int call) {
    outcome.clear();
    coder.encode(slots.array(call), slots.frame(call), outcome.get());
  };
  const auto see_encode = [&](int) { encodes.see(await(outcome)); };

  raise_clocks(stream);
  flush_cache(stream, flush);
  measured.encode = time_on_gpu(stream, calls, encode, see_encode);

  flush_cache(stream, flush);
  const auto until_ready = [&](int call) {
    encode(call);
    (void)await(outcome);
  };
  measured.ready = time_on_host(stream, calls, until_ready, see_encode);

  const EncodeGraphs graphs(coder, slots, stream, outcome,
                            static_cast<std::uint64_t>(calls + kWarmUps));
  flush_cache(stream, flush);
  const auto replay = [&](int call) {
    outcome.clear();
    graphs.launch(call, stream);
    (void)await(outcome);
  };
  measured.graph_ready = time_on_host(stream, calls, replay, see_encode);
  if (measured.declined) return measured;

  const auto decode = [&](int call) {
    outcome.clear();
    coder.decode(slots.frame(call), measured.frame_bytes, slots.decoded(call), outcome.get());
  };
  const auto see = [&](int) { see_decode(outcome.load()); };
  flush_cache(stream, flush);
  measured.decode = time_on_gpu(stream, calls, decode, see);

  flush_cache(stream, flush);
  const auto until_decoded = [&](int call) {
    decode(call);
    stream.finish();
  };
  measured.decoded = time_on_host(stream, calls, until_decoded, see);
  return measured;
}

}  // namespace thinwire::bench
