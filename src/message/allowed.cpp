#include "message/allowed.h"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "base/settings.h"
#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::message {
namespace {

std::array<std::atomic<bool>, 256> named{};

Result<std::vector<const codec::Codec*>> codecs_of(std::string_view names) {
  std::vector<const codec::Codec*> found;
  while (true) {
    const auto comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    found.push_back(codec::find_codec(name));
    if (found.back() == nullptr) {
      return {StatusCode::kInvalidArgument, "no codec named '" + std::string(name) + "'"};
    }
    if (comma == std::string_view::npos) return found;
    names.remove_prefix(comma + 1);
  }
}

bool allow_by_settings() {
  if (const char* const names = setting_value("THINWIRE_DECODE")) {
    // The fault is told elsewhere, with all other settings.
    [[maybe_unused]] const Status status = allow(std::string_view(names));
  }
  const char* const text = setting_value("THINWIRE_CODEC");
  const auto spec = codec::parse_spec(text == nullptr ? "off" : text);
  if (spec.ok() && spec->codec != nullptr) allow(*spec->codec);
  return true;
}

}  // namespace

bool may_decode(const codec::Codec& codec) {
  if (!codec.foreign) return true;
  static const bool read = allow_by_settings();
  return read && named[codec.id].load(std::memory_order_acquire);
}

Status check_allowed(const codec::Codec& codec) {
  if (may_decode(codec)) return {};
  const std::string name = codec.name;
  return {StatusCode::kUnsupported,
          name +
              " is another project's decoder, and this process has not named it: "
              "THINWIRE_DECODE=" +
              name + " or tw_decode_allow() allows it"};
}

void allow(const codec::Codec& codec) { named[codec.id].store(true, std::memory_order_release); }

Status allow(std::string_view names) {
  const auto found = codecs_of(names);
  if (!found.ok()) return found.status();
  for (const codec::Codec* codec : *found) allow(*codec);
  return {};
}

}  // namespace thinwire::message
