#include "shim/mpi/choose/decide.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "choose/pay_check.h"
#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// A GPU's launches and copies cost little against this much.
constexpr std::uint64_t kDeviceSampleBytes = 4 << 20;
constexpr std::uint64_t kSampleBytes = 256 << 10;

// The rate of a codec that cannot be measured on generated data, as one with a shape of its own,
// until attempts tell.
constexpr double kAssumedRate = 1e9;

// Facts about a codec on arrays of one type and place.
struct Known {
  tw_codec_cost measured{};
  bool is_assumed = false;
  choose::Guard guard;
};

using Kind = std::tuple<const CodecUse*, std::uint32_t, bool>;  // its type, on a GPU

std::mutex g_mutex;  // guards the codecs' state
std::map<Kind, Known>& known_codecs() {
  static auto* const of_process = new std::map<Kind, Known>;
  return *of_process;
}

bool measure_on_device_of(const void* buffer, const CodecUse& use, tw_codec_cost& cost) {
  tw_place place{};
  place.size = sizeof place;
  if (tw_place_of(buffer, &place) != TW_OK) return false;
  tw_codec* const codec = use.codec.get();
  return tw_costs_find(tw_costs_of_machine(), codec, TW_F32, kDeviceSampleBytes, 1, &cost) != 0 ||
         tw_codec_measure_device(codec, place.device, TW_F32, kDeviceSampleBytes, &cost) == TW_OK;
}

// The first message of a kind has its codec measured; a node's GPUs are taken to be alike.
Known measure(const Outgoing& message, const CodecUse& use, std::uint32_t dtype) {
  Known known;
  known.measured.size = sizeof known.measured;
  const bool is_measured = message.on_device
                               ? measure_on_device_of(message.buffer, use, known.measured)
                               : learn_cost(use.codec.get(), dtype, kSampleBytes, known.measured);
  if (is_measured) return known;
  known.is_assumed = true;
  known.measured.encode_bytes_per_second = kAssumedRate;
  known.measured.decode_bytes_per_second = kAssumedRate;
  known.measured.ratio = plan::kHopedRatio;
  return known;
}

// Under the lock.
Known& known_of(const Outgoing& message, const CodecUse& use, std::uint32_t dtype) {
  const Kind kind{&use, dtype, message.on_device};
  auto& all = known_codecs();
  const auto found = all.find(kind);
  if (found != all.end()) return found->second;
  return all.emplace(kind, measure(message, use, dtype)).first->second;
}

tw_plan_choice plan(const CodecUse& use, const tw_plan_settings& settings, std::uint32_t dtype,
                    std::uint64_t bytes, const Peer& peer) {
  tw_plan_facts facts{};
  facts.size = sizeof facts;
  facts.dtype = dtype;
  facts.bytes = bytes;
  facts.peer = peer.place;
  facts.peer_ready = peer.ready;
  tw_plan_choice choice{};
  choice.size = sizeof choice;
  tw_plan_message(use.codec.get(), &settings, &facts, &choice);
  return choice;
}

void predict(const plan::CodecCost& cost, double ratio, std::uint64_t bytes, Decision& decision) {
  const auto size = static_cast<double>(bytes);
  decision.raw_seconds = size / decision.link.bytes_per_second;
  decision.decode_seconds = size / cost.decode_bytes_per_second;
  decision.codec_seconds = size / cost.encode_bytes_per_second + decision.decode_seconds;
  decision.seconds = predicted_seconds(decision, ratio);
}

// A codec of a fixed size makes what it made of the sample; others may make more of other data.
double hoped_ratio(const CodecUse& use, const Known& known) {
  if (use.fixed_size) return known.measured.ratio;
  return std::max(known.measured.ratio, plan::kHopedRatio);
}

enum class Kept : std::uint8_t { kUndecided, kCompress, kRaw };

// The decisions on a lossy codec's kinds of messages. They are kept for the run.
std::atomic<Kept>& kept_of(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes,
                           tw_peer place) {
  constexpr std::size_t kCodecs = 64, kDtypes = TW_F8_E5M2 + 1, kOctaves = 65, kPlaces = 4;
  using OfCodec = std::array<std::atomic<Kept>, kDtypes * kOctaves * kPlaces>;
  static auto* const all = new std::array<OfCodec, kCodecs>{};
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes));
  return (*all)[use.number % kCodecs][(dtype * kOctaves + octave) * kPlaces + place];
}

}  // namespace

Decision decide(const Outgoing& message, const CodecUse& use, const TypeFacts& type,
                std::uint64_t bytes, const Peer& peer) {
  Decision decision;
  // Plans without a link: at this rate, slower than any codec, "auto" is not held back.
  tw_plan_settings settings = use.plan;
  settings.force = 1;
  decision.reason = static_cast<tw_reason>(plan(use, settings, type.leaf, bytes, peer).reason);
  if (decision.reason != TW_COMPRESS) return decision;
  decision.link = link_rate(peer.place);
  if (use.plan.force != 0 && decision.link.source != choose::RateSource::kStated) return decision;
  // A guess begins nothing.
  const bool is_known = peer.place == TW_PEER_OTHER_NODE ? choose::is_vouched_for(decision.link)
                                                         : decision.link.bytes_per_second > 0;
  const bool is_lossy = use.is_lossy;
  if (!is_known) {
    // It counts all the same: ranks that exchange messages have their timing rounds at one time.
    if (!is_lossy)
      next_turn(kind_key_of(use, type.leaf, bytes, peer.place), peer.world_rank, {}, false);
    decision.reason = TW_RAW_NO_LINK;
    return decision;
  }
  std::atomic<Kept>& kept = kept_of(use, type.leaf, bytes, peer.place);
  const Kept before = is_lossy ? kept.load(std::memory_order_relaxed) : Kept::kUndecided;
  const std::lock_guard lock(g_mutex);
  Known& known = known_of(message, use, type.leaf);
  const plan::CodecCost measured{known.measured.encode_bytes_per_second,
                                 known.measured.decode_bytes_per_second, known.measured.ratio};
  predict(known.guard.cost(measured), hoped_ratio(use, known), bytes, decision);
  decision.encode_seconds = static_cast<double>(bytes) / measured.encode_bytes_per_second;
  if (use.plan.force != 0 || before == Kept::kCompress) return decision;
  if (is_lossy) {
    const bool pays = before == Kept::kUndecided && decision.seconds < decision.raw_seconds;
    if (before == Kept::kUndecided && !pays) kept.store(Kept::kRaw, std::memory_order_relaxed);
    if (!pays) decision.reason = TW_RAW_LINK_FASTER;
    return decision;
  }
  const bool takes = known.guard.takes(decision.raw_seconds, decision.seconds);
  const bool pays = known.guard.codes();
  decision.turn = next_turn(kind_key_of(use, type.leaf, bytes, peer.place), peer.world_rank,
                            {decision.raw_seconds, decision.seconds, pays},
                            decision.link.source == choose::RateSource::kStated);
  if (!takes || (pays && !decision.turn.is_coded)) {
    decision.reason = TW_RAW_LINK_FASTER;
    return decision;
  }
  // A try has paid for its encoding already.
  const double codec_seconds = pays ? decision.codec_seconds : decision.decode_seconds;
  decision.least_ratio = std::max(1.0, choose::least_ratio_of(decision.raw_seconds, codec_seconds));
  return decision;
}

NativeReason timed_reason(const Decision& decision) {
  const TimedTurn& turn = decision.turn;
  const bool is_by_time = turn.of != nullptr && turn.is_foreseen && !turn.is_coded;
  if (decision.reason != TW_RAW_LINK_FASTER || !is_by_time) {
    return static_cast<NativeReason>(decision.reason);
  }
  return turn.is_in_round || !turn.is_decided ? NativeReason::kBeingTimed
                                              : NativeReason::kNotFaster;
}

double predicted_seconds(const Decision& decision, double ratio) {
  return decision.codec_seconds + decision.raw_seconds / ratio;
}

double took_seconds(const Decision& decision, double encode_seconds, std::uint64_t bytes,
                    std::uint64_t wire_bytes) {
  const double part = static_cast<double>(wire_bytes) / static_cast<double>(bytes);
  return encode_seconds + decision.decode_seconds + decision.raw_seconds * part;
}

std::int64_t saved_nanoseconds(const Decision& decision, double raw_seconds, double whole_seconds) {
  const double predicted = 1e9 * (raw_seconds - whole_seconds);
  const double saved =
      decision.turn.is_decided ? std::min(predicted, decision.turn.saving) : predicted;
  return static_cast<std::int64_t>(saved);
}

Decision as_told(Decision decision, std::uint64_t bytes, tw_peer place) {
  const double rate = rate_of_raw(place);
  if (decision.raw_seconds > 0 && rate > 0) {
    decision.raw_seconds = std::min(decision.raw_seconds, static_cast<double>(bytes) / rate);
  }
  return decision;
}

bool attempted(const Decision& decision, const Outgoing& message, const CodecUse& use,
               const TypeFacts& type, std::uint64_t bytes, const Peer& peer, double seconds,
               std::uint64_t wire_bytes) {
  if (decision.raw_seconds <= 0) return true;
  const bool was_whole = wire_bytes > 0;
  {
    const std::lock_guard lock(g_mutex);
    Known& known = known_of(message, use, type.leaf);
    if (was_whole) known.guard.took(decision.encode_seconds, seconds);
  }
  if (!use.is_lossy || use.plan.force != 0 || !was_whole) return true;
  std::atomic<Kept>& kept = kept_of(use, type.leaf, bytes, peer.place);
  if (kept.load(std::memory_order_relaxed) != Kept::kUndecided) return true;
  const double total = seconds + decision.decode_seconds +
                       static_cast<double>(wire_bytes) / decision.link.bytes_per_second;
  const bool pays = total < decision.raw_seconds;
  kept.store(pays ? Kept::kCompress : Kept::kRaw, std::memory_order_relaxed);
  return pays;
}

}  // namespace thinwire::mpi
