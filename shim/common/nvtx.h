// Parts of the libraries' ranges (NVTX): for files that are compiled with its headers.
#pragma once

#include <cstdint>
#include <string>

#include "nvtx3/nvToolsExt.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {

// Null if nobody listens.
inline nvtxDomainHandle_t nvtx_domain() {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("thinwire");
  return made;
}

// The text of a range: what is done, by which codec (null: not told), and bytes.
inline std::string nvtx_text(const std::string& what, const tw_codec* codec, std::uint64_t bytes) {
  const std::string by = codec == nullptr ? "" : std::string(" ") + tw_codec_spec(codec);
  return what + by + " " + std::to_string(bytes) + " bytes";
}

// Refers to the text, which whoever listens copies.
inline nvtxEventAttributes_t nvtx_event(const std::string& text, std::uint64_t bytes) {
  nvtxEventAttributes_t made{};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  made.payload.ullValue = bytes;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text.c_str();
  return made;
}

}  // namespace thinwire::shim
