#include "measure.h"

#include "job.h"

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

class Phases {
 public:
  Phases(const Coder& coder, const Slots& slots, const Expected& expected, const Stream& stream,
         const DeviceBytes& flush)
      : coder_(coder), slots_(slots), expected_(expected), stream_(stream), flush_(flush) {}

  Times encode_on_gpu() {
    return encode_phase([&](auto&& see) {
      return time_on_gpu(stream_, calls_, [&](int call) { encode(call); }, see);
    });
  }

  Times ready() {
    return encode_phase([&](auto&& see) {
      const auto until_ready = [&](int call) {
        encode(call);
        (void)await(outcome_);
      };
      return time_on_host(stream_, calls_, until_ready, see);
    });
  }

  // The word says the size, and may be written before the frame's last bytes are.
  Times ready_synced() {
    return encode_phase([&](auto&& see) {
      const auto until_synced = [&](int call) {
        encode(call);
        (void)await(outcome_);
        stream_.finish();
      };
      return time_on_host(stream_, calls_, until_synced, see);
    });
  }

  Times graph_ready() {
    const EncodeGraphs graphs(coder_, slots_, stream_, outcome_,
                              static_cast<std::uint64_t>(calls_ + kWarmUps));
    return encode_phase([&](auto&& see) {
      const auto replay = [&](int call) {
        outcome_.clear();
        graphs.launch(call, stream_);
        (void)await(outcome_);
      };
      return time_on_host(stream_, calls_, replay, see);
    });
  }

  Times decode_on_gpu() {
    return decode_phase([&](auto&& see) {
      return time_on_gpu(stream_, calls_, [&](int call) { decode(call); }, see);
    });
  }

  // Timed on sums of sums, and held to the CPU's by one more call for each place.
  std::optional<Times> decode_add_on_gpu() {
    if (!expected_.knows_sums() || !add(0)) return {};
    stream_.finish();
    flush_cache(stream_, flush_);
    const auto see = [&](int) { see_decode(outcome_.load()); };
    const Times times = time_on_gpu(stream_, calls_, [&](int call) { (void)add(call); }, see);
    slots_.preset_decoded(stream_);
    const int places = std::min(calls_ + kWarmUps, static_cast<int>(slots_.count()));
    for (int call = 0; call < places; ++call) {
      (void)add(call);
      stream_.finish();
      see(call);
    }
    expected_.check_sums(slots_, places, stream_);
    return times;
  }

  // As a blocking decode of the library sees it: the word is written, and seen, after the array.
  Times decoded() {
    return decode_phase([&](auto&& see) {
      const auto until_decoded = [&](int call) {
        decode(call);
        (void)await(outcome_);
      };
      return time_on_host(stream_, calls_, until_decoded, see);
    });
  }

  Times decoded_synced() {
    return decode_phase([&](auto&& see) {
      const auto until_synced = [&](int call) {
        decode(call);
        stream_.finish();
      };
      return time_on_host(stream_, calls_, until_synced, see);
    });
  }

  bool frames_vary() const { return frames_vary_; }

 private:
  void encode(int call) const {
    outcome_.clear();
    coder_.encode(slots_.array(call), slots_.frame(call), outcome_.get());
  }

  void decode(int call) const {
    outcome_.clear();
    coder_.decode(slots_.frame(call), expected_.frame_bytes(), slots_.decoded(call),
                  outcome_.get());
  }

  bool add(int call) const {
    outcome_.clear();
    return coder_.decode_add(slots_.frame(call), expected_.frame_bytes(), slots_.decoded(call),
                             outcome_.get());
  }

  template <typename Run>
  Times encode_phase(Run&& run) {
    slots_.poison_frames(stream_);
    flush_cache(stream_, flush_);
    const Times times = run([&](int) { see_encode(await(outcome_)); });
    if (!expected_.declined() && !expected_.check_frames(slots_, calls_ + kWarmUps, stream_)) {
      frames_vary_ = true;
    }
    return times;
  }

  template <typename Run>
  Times decode_phase(Run&& run) {
    slots_.poison_decoded(stream_);
    flush_cache(stream_, flush_);
    const Times times = run([&](int) { see_decode(outcome_.load()); });
    expected_.check_arrays(slots_, calls_ + kWarmUps, stream_);
    return times;
  }

  void see_encode(std::uint64_t outcome) const {
    std::uint64_t bytes = 0;
    const tw_status status = tw_outcome_read(outcome, &bytes);
    if (status != TW_DECLINED) check(status);
    if ((status == TW_DECLINED) != expected_.declined()) {
      throw std::runtime_error("calls do not agree on declining");
    }
    if (!expected_.declined() && bytes != expected_.frame_bytes()) {
      throw std::runtime_error("a frame has another size than the first");
    }
  }

  static void see_decode(std::uint64_t outcome) {
    std::uint64_t bytes = 0;
    if (outcome == 0) throw std::runtime_error("the GPU wrote no outcome");
    check(tw_outcome_read(outcome, &bytes));
  }

  const Coder& coder_;
  const Slots& slots_;
  const Expected& expected_;
  const Stream& stream_;
  const DeviceBytes& flush_;
  const PinnedWord outcome_;
  const int calls_ = timed_calls(coder_.array_bytes());
  bool frames_vary_ = false;
};

}  // namespace

Measured measure(const Coder& coder, const Slots& slots, const Expected& expected,
                 const Stream& stream, const DeviceBytes& flush) {
  Phases phases(coder, slots, expected, stream, flush);
  Measured measured;
  raise_clocks(stream);
  measured.encode = phases.encode_on_gpu();
  measured.ready = phases.ready();
  measured.ready_synced = phases.ready_synced();
  measured.graph_ready = phases.graph_ready();
  if (expected.declined()) return measured;
  measured.decode = phases.decode_on_gpu();
  measured.decoded = phases.decoded();
  measured.decoded_synced = phases.decoded_synced();
  measured.decode_add = phases.decode_add_on_gpu();
  measured.frames_vary = phases.frames_vary();
  return measured;
}

}  // namespace thinwire::bench
