#include "process/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kDefaultThreshold = 64 << 10;
constexpr std::uint64_t kDefaultPool = std::uint64_t{2} << 30;
constexpr std::uint64_t kMostHookThreshold = 16 << 10;
constexpr std::uint64_t kSampleBytes = 256 << 10;

bool is_on(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

void complain(bool speaks, const char* name) {
  if (!speaks) return;
  tw_log(TW_LOG_ERROR, (std::string(name) + ": " + tw_last_error()).c_str());
}

std::uint64_t size_or(const char* name, std::uint64_t fallback, bool speaks) {
  const char* text = std::getenv(name);
  std::uint64_t bytes = fallback;
  if (text != nullptr && tw_size_parse(text, &bytes) != TW_OK) complain(speaks, name);
  return bytes;
}

// A message may land in host memory, where such a codec could not decode it.
bool knows_gpus_alone(const tw_codec* codec) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    if (tw_codec_describe(index, &info) == TW_OK &&
        static_cast<std::int64_t>(info.id) == tw_codec_id(codec)) {
      return info.gpu_only != 0;
    }
  }
  return false;
}

CodecHandle read_codec(bool speaks) {
  const char* text = std::getenv("THINWIRE_CODEC");
  tw_codec* codec = nullptr;
  bool usable = tw_codec_create(text == nullptr ? "auto" : text, &codec) == TW_OK;
  if (!usable) {
    complain(speaks, "THINWIRE_CODEC");
  } else if (knows_gpus_alone(codec)) {
    if (speaks) {
      tw_log(TW_LOG_ERROR, (std::string("THINWIRE_CODEC: ") + tw_codec_spec(codec) +
                            " codes GPU memory only, and messages may land in host memory")
                               .c_str());
    }
    tw_codec_destroy(codec);
    usable = false;
  }
  if (!usable) {
    if (speaks) tw_log(TW_LOG_ERROR, "every message goes raw");
    tw_codec_create("off", &codec);
  }
  return CodecHandle(codec);
}

// The codec's speed matters only against a stated link, and costs milliseconds to measure.
void read_link(Settings& settings, bool speaks) {
  const char* text = std::getenv("THINWIRE_LINK");
  if (text == nullptr) return;
  double rate = 0;
  if (tw_link_rate_parse(text, &rate) != TW_OK) return complain(speaks, "THINWIRE_LINK");
  settings.plan.cost.size = sizeof settings.plan.cost;
  if (tw_codec_measure(settings.codec.get(), TW_F32, kSampleBytes, &settings.plan.cost) == TW_OK) {
    settings.plan.link_bytes_per_second = rate;
  }
}

// Where messages may come from GPUs, whose codecs are not measured before there is one.
bool machine_may_have_gpu() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

}  // namespace

bool Settings::is_auto() const {
  return tw_codec_id(codec.get()) < 0 && tw_codec_ids(codec.get(), nullptr, 0) > 0;
}

bool Settings::may_compress() const {
  if (disabled || codec == nullptr || tw_codec_ids(codec.get(), nullptr, 0) == 0) {
    return false;
  }
  if (is_auto() && plan.link_bytes_per_second <= 0) return false;
  if (plan.link_bytes_per_second <= 0 || machine_may_have_gpu()) return true;
  // The costs are linear in the size, so one size stands for all.
  tw_plan_facts facts{sizeof(tw_plan_facts), TW_F32, plan.threshold + kSampleBytes,
                      TW_PEER_OTHER_NODE, 1};
  tw_plan_choice choice{};
  choice.size = sizeof choice;
  return tw_plan_message(codec.get(), &plan, &facts, &choice) == TW_OK &&
         choice.reason == TW_COMPRESS;
}

bool Settings::wants_collectives() const {
  if (disabled || codec == nullptr || tw_codec_ids(codec.get(), nullptr, 0) == 0) return false;
  return collectives.calls != 0 && !(is_auto() && collectives.link_bytes_per_second <= 0);
}

Settings read_settings(bool speaks) {
  Settings settings;
  settings.disabled = is_on("THINWIRE_DISABLE");
  if (settings.disabled) return settings;
  settings.codec = read_codec(speaks);
  settings.plan.size = sizeof settings.plan;
  settings.plan.same_node = is_on("THINWIRE_SAME_NODE");
  settings.plan.threshold = size_or("THINWIRE_THRESHOLD", kDefaultThreshold, speaks);
  // A wire message is padded to the receiver's hook threshold, so a receive below it that a wire
  // message reaches is truncated by the MPI itself, as the raw message would have been.
  settings.hook_threshold = std::min(kMostHookThreshold, settings.plan.threshold / 4);
  settings.has_pool = std::getenv("THINWIRE_POOL") != nullptr;
  settings.pool_bytes = size_or("THINWIRE_POOL", kDefaultPool, speaks);
  if (std::getenv("THINWIRE_GPU_AWARE") != nullptr)
    settings.gpu_aware = is_on("THINWIRE_GPU_AWARE");
  if (const char* report = std::getenv("THINWIRE_REPORT")) settings.report = report;
  read_link(settings, speaks);
  settings.collectives = read_collective_settings(speaks);
  return settings;
}

}  // namespace thinwire::mpi
