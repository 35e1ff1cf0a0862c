#include "capi/boundary.h"

#include <cstring>

#include "base/log.h"
#include "base/parse.h"
#include "frame/header.h"

namespace thinwire::capi {
namespace {

// A fixed buffer: recording an error must not itself fail.
thread_local char last_error[512] = "";

void remember(const char* text) {
  std::strncpy(last_error, text, sizeof last_error - 1);
  last_error[sizeof last_error - 1] = '\0';
}

}  // namespace

tw_status report(const Status& status) {
  if (!status.ok()) remember(status.message().c_str());
  return static_cast<tw_status>(status.code());
}

tw_status misuse(const char* what) {
  remember(what);
  return TW_INVALID_ARGUMENT;
}

}  // namespace thinwire::capi

using namespace thinwire;

const char* tw_status_text(tw_status status) {
  return status_text(static_cast<StatusCode>(status));
}

const char* tw_last_error(void) { return capi::last_error; }

const char* tw_version(void) { return THINWIRE_VERSION; }

uint32_t tw_format_version(void) { return frame::kFormatVersion; }

tw_status tw_size_parse(const char* text, uint64_t* bytes) {
  return capi::guarded([&] {
    if (text == nullptr || bytes == nullptr) return capi::misuse("tw_size_parse: null pointer");
    auto parsed = parse_size(text);
    if (parsed.ok()) *bytes = *parsed;
    return capi::report(parsed.status());
  });
}

tw_status tw_link_rate_parse(const char* text, double* bytes_per_second) {
  return capi::guarded([&] {
    if (text == nullptr || bytes_per_second == nullptr) {
      return capi::misuse("tw_link_rate_parse: null pointer");
    }
    auto parsed = parse_link_rate(text);
    if (parsed.ok()) *bytes_per_second = *parsed;
    return capi::report(parsed.status());
  });
}

void tw_log(tw_log_level level, const char* text) {
  if (text != nullptr) log(static_cast<LogLevel>(level), text);
}
