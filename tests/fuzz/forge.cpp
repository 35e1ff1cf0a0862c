// Decodes forged frames and delta packets one after the other, as fast as it can, and prints how
// many of each codec and type there were. Ends the process if a promise is broken; under
// sanitizers they watch, too. A run's numbers come from its seed.
//
// It prints also if SIGINT or SIGTERM ends it earlier.
//
//   fuzz_forge <runs> [seed]
#include <csignal>
#include <ctime>

#include "base/checksum.h"
#include "frame/delta.h"
#include "fuzz/forgery.h"
#include "fuzz/input.h"
#include "message/delta.h"
#include "thinwire/thinwire.h"

#ifdef THINWIRE_FUZZ_ASAN
#include <sanitizer/asan_interface.h>

// Both compilers' sanitizers have it, and one's headers alone.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*,
                                                                       std::size_t),
                                                         void (*freed)(const volatile void*));
#endif

using namespace thinwire;
using namespace thinwire::fuzz;

#ifdef THINWIRE_FUZZ_ASAN
// Half of the time would else go to where memory was taken, and to stacks that outlive their call.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=0:detect_stack_use_after_return=0";
}
#endif

namespace {

constexpr std::uint64_t kMostRawBytes = 16 << 10;  // larger arrays are refused as too large
constexpr std::size_t kEdge = 64;

// Bytes that the library takes from the heap; counted under the address sanitizer alone.
std::uint64_t g_taken = 0;

void watch_memory() {
#ifdef THINWIRE_FUZZ_ASAN
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t bytes) { g_taken += bytes; },
      [](const volatile void*) {});
#endif
}

// Memory that is used again in every run: of it `bytes` may be touched, which end where it ends,
// and a few around them are watched.
class Edge {
 public:
  Edge() : memory_(kEdge + kMostRawBytes + kEdge) {}
  MutableByteView room() { return {memory_.data() + kEdge, kMostRawBytes}; }
  MutableByteView open(std::size_t bytes) {
    close();
    const MutableByteView opened = room().last(bytes);
    const auto front = MutableByteView(memory_).subspan(kMostRawBytes - bytes, kEdge);
    const auto behind = MutableByteView(memory_).last(kEdge);
#ifdef THINWIRE_FUZZ_ASAN
    __asan_poison_memory_region(front.data(), front.size());
    __asan_poison_memory_region(behind.data(), behind.size());
#endif
    front_ = front;
    behind_ = behind;
    return opened;
  }
  void close() {
#ifdef THINWIRE_FUZZ_ASAN
    __asan_unpoison_memory_region(front_.data(), front_.size());
    __asan_unpoison_memory_region(behind_.data(), behind_.size());
#endif
    front_ = behind_ = {};
  }

 private:
  Bytes memory_;
  MutableByteView front_, behind_;
};

struct Stage {
  Edge frame, one, two;
  Bytes workspace;
};

tw_status decode_in_pieces(Stage& stage, ByteView frame, MutableByteView out) {
  Memory memory{frame, out};
  tw_pieces pieces{};
  pieces.size = sizeof pieces;
  pieces.context = &memory;
  pieces.read = read_piece;
  pieces.write = write_piece;
  pieces.workspace = stage.workspace.data();
  pieces.workspace_bytes = stage.workspace.size();
  return tw_message_decode_in_pieces(&pieces, frame.size(), nullptr, nullptr);
}

bool is_an_answer(tw_status status) {
  return status == TW_OK || status == TW_DAMAGED || status == TW_UNSUPPORTED ||
         status == TW_VERSION || status == TW_NOT_A_FRAME;
}

// The same answer and array each way; no byte is left as it was; no more memory than is stated.
bool run_frame(Stage& stage, ByteView frame, std::uint64_t way) {
  tw_message_info info{};
  info.size = sizeof info;
  g_taken = 0;
  const tw_status seen = tw_message_inspect(frame.data(), frame.size(), nullptr, &info);
  THINWIRE_FUZZ_CHECK(g_taken <= 4096);
  THINWIRE_FUZZ_CHECK(is_an_answer(seen));
  if (seen != TW_OK) return false;
  const std::uint64_t bytes = std::min(info.raw_bytes, kMostRawBytes);
  const MutableByteView out = stage.one.open(bytes);
  std::fill(out.begin(), out.end(), std::byte{0xA5});
  g_taken = 0;
  const tw_status status =
      tw_message_decode(frame.data(), frame.size(), out.data(), bytes, nullptr, nullptr);
  THINWIRE_FUZZ_CHECK(g_taken <= 4096 + bytes);
  if (info.raw_bytes > bytes) {
    THINWIRE_FUZZ_CHECK(status == TW_TOO_SMALL);
    return false;
  }
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_DAMAGED || status == TW_UNSUPPORTED);
  const MutableByteView again = stage.two.open(bytes);
  std::fill(again.begin(), again.end(), std::byte{0x5A});
  if (way == 0) {
    THINWIRE_FUZZ_CHECK(decode_in_pieces(stage, frame, again) == status);
  } else if (way == 1) {
    tw_message_options options{};
    options.size = sizeof options;
    options.flags = TW_MESSAGE_ADD;
    g_taken = 0;
    const tw_status added =
        tw_message_decode(frame.data(), frame.size(), again.data(), bytes, &options, nullptr);
    THINWIRE_FUZZ_CHECK(added == status || added == TW_UNSUPPORTED);
    THINWIRE_FUZZ_CHECK(g_taken <= 4096 + 2 * bytes);
    return status == TW_OK;
  } else if (status == TW_OK) {
    THINWIRE_FUZZ_CHECK(tw_message_decode(frame.data(), frame.size(), again.data(), bytes, nullptr,
                                          nullptr) == TW_OK);
  }
  THINWIRE_FUZZ_CHECK(status != TW_OK || same(out, again));
  return status == TW_OK;
}

// Packets between ranks: the frame after the head of a delta packet, which names a reference or,
// now and then, another one.
bool run_delta(Stage& stage, MutableByteView room, MutableByteView frame, Random& random) {
  codec::Chunk array{Dtype::kF32, {1, {16}}};
  if (const auto header = frame::unpack(frame, frame::file_mark());
      header.ok() && header->raw_bytes() <= kMostRawBytes && random.below(16) != 0) {
    array = {header->dtype, header->shape};
  }
  const MutableByteView reference = stage.two.open(array.raw_bytes());
  std::fill(reference.begin(), reference.end(), std::byte{0x3C});
  const MutableByteView packet = room.last(frame.size() + frame::kDeltaBytes);
  const std::uint64_t number = random.below(32) == 0 ? 4 : 3;
  const std::uint64_t sum = checksum(reference) ^ (random.below(32) == 0 ? 1 : 0);
  frame::pack_delta({number, sum}, frame::file_mark(), packet.data());
  if (random.below(16) == 0) {
    packet[random.below(frame::kDeltaBytes)] ^= static_cast<std::byte>(1 + random.below(255));
  }
  const MutableByteView out = stage.one.open(array.raw_bytes());
  g_taken = 0;
  const Status status =
      message::decode_delta(packet, array, {3, reference.data()}, frame::file_mark(), out.data());
  THINWIRE_FUZZ_CHECK(g_taken <= 4096 + out.size());
  THINWIRE_FUZZ_CHECK(status.code() != StatusCode::kInternal);
  return status.ok();
}

volatile std::sig_atomic_t g_is_ended = 0;

struct Tally {
  std::uint64_t runs = 0, decoded = 0;
};

void print(const std::vector<Origin>& origins, const Tally& frames, const Tally& deltas,
           double seconds) {
  std::uint64_t fewest = UINT64_MAX;
  for (const Origin& origin : origins) {
    fewest = std::min(fewest, origin.runs);
    std::printf("%s %s: %llu, decoded %llu\n", origin.codec.c_str(), origin.dtype.c_str(),
                static_cast<unsigned long long>(origin.runs),
                static_cast<unsigned long long>(origin.decoded));
  }
  const auto line = [](const char* what, const Tally& tally) {
    std::printf("%s: %llu, decoded %llu\n", what, static_cast<unsigned long long>(tally.runs),
                static_cast<unsigned long long>(tally.decoded));
  };
  line("frames", frames);
  line("delta packets", deltas);
  std::printf(
      "%zu codecs and types, at least %llu of each; %.0f s of the processor, %.0f a second\n",
      origins.size(), static_cast<unsigned long long>(fewest), seconds,
      static_cast<double>(frames.runs + deltas.runs) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "fuzz_forge <runs> [seed]\n");
    return 2;
  }
  const std::uint64_t runs = std::strtoull(argv[1], nullptr, 10);
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::vector<Origin> origins = make_origins();
  Stage stage;
  stage.workspace.resize(512 << 10);
  Tally frames, deltas;
  watch_memory();
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { g_is_ended = 1; });
  const std::clock_t start = std::clock();
  for (std::uint64_t run = 0; run < runs && g_is_ended == 0; ++run) {
    Origin& origin = origins[run % origins.size()];
    stage.frame.close();
    const MutableByteView room = stage.frame.room().last(kLongestForgery);
    const MutableByteView frame = forge(origin, random, room);
    const bool is_delta = origin.lossless && random.below(8) == 0;
    Tally& tally = is_delta ? deltas : frames;
    bool decoded = false;
    if (is_delta) {
      decoded = run_delta(stage, room, frame, random);
    } else {
      decoded = run_frame(stage, stage.frame.open(frame.size()), random.below(4));
    }
    ++tally.runs;
    ++origin.runs;
    tally.decoded += decoded ? 1 : 0;
    origin.decoded += decoded ? 1 : 0;
  }
  print(origins, frames, deltas, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
