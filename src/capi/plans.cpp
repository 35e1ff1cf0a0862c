#include "capi/errors.h"
#include "capi/handles.h"
#include "plan/plan.h"

using namespace thinwire;

static_assert(plan::kReasonCount == TW_REASON_COUNT);

const char* tw_reason_text(tw_reason reason) {
  return plan::reason_text(static_cast<plan::Reason>(reason));
}

tw_status tw_plan_message(const tw_codec* codec, const tw_plan_settings* settings,
                          const tw_plan_facts* facts, tw_plan_choice* choice) {
  if (codec == nullptr || settings == nullptr || facts == nullptr || choice == nullptr ||
      settings->size < sizeof(tw_plan_settings) || facts->size < sizeof(tw_plan_facts) ||
      choice->size < sizeof(tw_plan_choice) || facts->dtype >= kDtypeCount ||
      facts->peer > TW_PEER_UNKNOWN) {
    return capi::misuse("tw_plan_message: null pointer, unknown dtype or peer, or size not set");
  }
  const plan::Settings plan_settings{
      .threshold = settings->threshold,
      .same_node = settings->same_node != 0,
      .link_bytes_per_second = settings->link_bytes_per_second,
      .cost = {settings->cost.encode_bytes_per_second, settings->cost.decode_bytes_per_second,
               settings->cost.ratio}};
  const plan::Facts plan_facts{.bytes = facts->bytes,
                               .dtype = static_cast<Dtype>(facts->dtype),
                               .peer = static_cast<plan::Peer>(facts->peer),
                               .peer_ready = facts->peer_ready != 0};
  const plan::Choice made = plan::plan_message(codec->spec, plan_settings, plan_facts);
  choice->reason = static_cast<uint32_t>(made.reason);
  choice->predicted_raw_seconds = made.raw_seconds;
  choice->predicted_compressed_seconds = made.compressed_seconds;
  choice->least_ratio = made.least_ratio;
  return TW_OK;
}
