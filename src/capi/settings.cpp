#include "base/settings.h"

#include <string>

#include "base/job_rank.h"
#include "capi/boundary.h"
#include "capi/policies.h"
#include "codec/spec.h"

using namespace thinwire;

uint32_t tw_setting_count(void) { return static_cast<uint32_t>(all_settings().size()); }

tw_status tw_setting_describe(uint32_t index, tw_setting_info* to) {
  if (!capi::has_size(to) || index >= tw_setting_count()) {
    return capi::misuse("tw_setting_describe: info is null, its size is not set, or no such index");
  }
  const Setting& row = all_settings()[index];
  tw_setting_info info{};
  info.of_tools = row.kind == SettingKind::kOfTools;
  info.name = row.name;
  info.kind = kind_text(row.kind);
  info.fallback = row.fallback;
  info.words = row.words;
  info.meaning = row.meaning;
  capi::give(info, to);
  return TW_OK;
}

tw_status tw_setting_check(const char* name, const char* value) {
  return capi::guarded([&] {
    if (name == nullptr || value == nullptr) return capi::misuse("tw_setting_check: null pointer");
    const Setting* setting = find_setting(name);
    if (setting == nullptr) {
      const std::string nearest(nearest_setting(name));
      return capi::report(
          {StatusCode::kInvalidArgument,
           "no setting has this name" + (nearest.empty() ? "" : ", the nearest is " + nearest)});
    }
    if (setting->kind == SettingKind::kCodec) {
      return capi::report(codec::parse_spec(value).status());
    }
    if (setting->kind == SettingKind::kPolicy) {
      return capi::report(capi::read_policy(value).status());
    }
    return capi::report(check_setting(*setting, value));
  });
}

const char* tw_setting_value(const char* name) {
  return name == nullptr ? nullptr : setting_value(name);
}

int64_t tw_job_rank(void) { return job_rank().value_or(-1); }

tw_status tw_settings_judge(void) {
  return capi::guarded([&] {
    if (capi::wrong_wish().empty()) return TW_OK;
    return capi::report({StatusCode::kInvalidArgument, capi::wrong_wish()});
  });
}
