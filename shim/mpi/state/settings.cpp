#include "shim/mpi/state/settings.h"

#include <algorithm>
#include <cstring>

#include "shim/common/settings.h"

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kMostInspectThreshold = 16 << 10;
constexpr std::uint64_t kMostCaptured = 1 << 30;

// The receive buffer may be in host memory, if such a codec cannot decode.
std::string objection_to(const tw_codec* codec) {
  const auto row = shim::row_of(codec);
  if (!row || row->gpu_only == 0) return "";
  return std::string(tw_codec_spec(codec)) +
         " takes GPU memory only, and a receive buffer may be in host memory";
}

GpuWire read_gpu_wire() {
  const char* text = tw_setting_value("THINWIRE_GPU_WIRE");
  if (text == nullptr) return GpuWire::kAuto;
  if (std::strcmp(text, "device") == 0) return GpuWire::kDevice;
  return std::strcmp(text, "pinned") == 0 ? GpuWire::kPinned : GpuWire::kAuto;
}

// "auto" and "lossless" take a sample of their own, and a bound relative to the range is another
// one on a piece.
bool samples_tell(const tw_codec* codec) {
  const auto row = shim::row_of(codec);
  return row && row->fixed_size == 0 && std::strstr(tw_codec_spec(codec), "rel=") == nullptr;
}

void add_codec(Settings& settings, tw_codec* codec) {
  CodecUse use;
  use.codec.reset(codec);
  use.plan = settings.plan;
  const auto row = shim::row_of(codec);
  use.is_lossy = row && row->lossless == 0;
  // Missing values are left out of frames of any codec.
  const bool leaves_out = tw_codec_has_fill(codec) != 0;
  use.fixed_size = row && row->fixed_size != 0 && !leaves_out;
  use.samples_tell = samples_tell(codec);
  use.number = static_cast<unsigned>(settings.codecs.size());
  settings.codecs.push_back(std::move(use));
}

// Numbers of codecs follow from the rules alone, so that ranks of one policy number them alike.
void read_codecs(Settings& settings, bool speaks) {
  settings.codecs.clear();
  add_codec(settings, shim::read_codec(speaks, "message", objection_to));
  settings.policy = tw_policy_of_environment();
  for (std::uint32_t at = 0; at < tw_policy_rule_count(settings.policy); ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    tw_policy_describe(settings.policy, at, &rule);
    settings.holds_of_rule.push_back(static_cast<tw_dtype>(rule.holds));
  }
  for (tw_codec* each : shim::codecs_of(settings.policy, settings.codec_of_rule)) {
    if (const std::string why = objection_to(each); !why.empty()) {
      if (speaks) tw_log(TW_LOG_ERROR, ("THINWIRE_POLICY: " + why + ": its rules say off").c_str());
      tw_codec_destroy(each);
      tw_codec_create("off", &each);
    }
    add_codec(settings, each);
  }
}

}  // namespace

bool learn_cost(const tw_codec* codec, std::uint32_t dtype, std::uint64_t bytes,
                tw_codec_cost& cost) {
  cost.size = sizeof cost;
  return tw_costs_find(tw_costs_of_machine(), codec, dtype, bytes, 0, &cost) != 0 ||
         tw_codec_measure(codec, dtype, bytes, &cost) == TW_OK;
}

bool CodecUse::codes_reductions() const {
  return tw_codec_reductions(codec.get()) >= TW_REDUCTIONS_CODED;
}

bool Settings::codes_reductions() const {
  return std::ranges::any_of(codecs, &CodecUse::codes_reductions);
}

tw_reductions CodecUse::order_of_sums() const {
  const tw_reductions all = tw_codec_reductions(codec.get());
  return all >= TW_REDUCTIONS_ORDERED ? all : TW_REDUCTIONS_NATIVE;
}

bool Settings::orders_reductions() const {
  return std::ranges::any_of(
      codecs, [](const CodecUse& use) { return use.order_of_sums() != TW_REDUCTIONS_NATIVE; });
}

bool Settings::rules_order_reductions() const {
  return std::ranges::any_of(codecs, [&](const CodecUse& use) {
    const tw_reductions asked = use.order_of_sums();
    return asked != TW_REDUCTIONS_NATIVE && asked != codecs.front().order_of_sums();
  });
}

bool Settings::knows_words() const {
  return std::ranges::any_of(holds_of_rule, [](tw_dtype held) { return held != TW_BYTES; });
}

bool Settings::may_compress() const {
  return !disabled && !std::ranges::all_of(codecs, &CodecUse::is_off);
}

bool Settings::wants_collectives() const { return may_compress() && collectives.calls != 0; }

Settings read_settings(bool speaks) {
  Settings settings;
  settings.disabled = shim::is_disabled();
  if (settings.disabled) return settings;
  settings.plan.size = sizeof settings.plan;
  settings.plan.same_node = shim::is_on("THINWIRE_SAME_NODE");
  settings.plan.force = shim::is_on("THINWIRE_FORCE");
  settings.plan.threshold = shim::threshold();
  // A wire message is padded to the receiver's inspection threshold, so a receive below it that a
  // wire message reaches is truncated by the MPI itself, as the raw message would have been.
  settings.inspect_threshold = std::min(kMostInspectThreshold, settings.plan.threshold / 4);
  if (tw_setting_value("THINWIRE_POOL") != nullptr)
    settings.pool_bytes = shim::size_or("THINWIRE_POOL", 0);
  if (tw_setting_value("THINWIRE_GPU_AWARE") != nullptr)
    settings.gpu_aware = shim::is_on("THINWIRE_GPU_AWARE");
  settings.gpu_wire = read_gpu_wire();
  settings.report = shim::report();
  settings.trace = shim::text_or("THINWIRE_TRACE", "");
  settings.metrics = shim::text_or("THINWIRE_METRICS", "");
  settings.capture = shim::text_or("THINWIRE_CAPTURE", "");
  settings.capture_bytes = shim::size_or("THINWIRE_CAPTURE_MOST", kMostCaptured);
  read_codecs(settings, speaks);
  settings.collectives = read_collective_settings();
  // The root has the values that lossless codecs decode already.
  if (std::ranges::none_of(settings.codecs, &CodecUse::is_lossy)) {
    settings.collectives.root_decodes = false;
  }
  settings.collectives.policy = tw_policy_hash(settings.policy);
  return settings;
}

}  // namespace thinwire::mpi
