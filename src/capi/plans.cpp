#include "capi/boundary.h"
#include "capi/convert.h"
#include "capi/handles.h"
#include "collective/algorithms.h"
#include "plan/collective.h"
#include "plan/plan.h"

using namespace thinwire;

static_assert(plan::kReasonCount == TW_REASON_COUNT);
// Embedded by value: they never grow.
static_assert(sizeof(tw_codec_cost) == 32 && sizeof(tw_shape) == 40 && sizeof(tw_segment) == 16);

namespace {

plan::CodecCost cost_of(const tw_plan_settings& settings) {
  return {settings.cost.encode_bytes_per_second, settings.cost.decode_bytes_per_second,
          settings.cost.ratio};
}

bool are_sound(const tw_plan_settings& settings) {
  return capi::is_rate(settings.link_bytes_per_second) && capi::is_cost(settings.cost);
}

bool are_known(const tw_collective_facts& facts) {
  return facts.operation < plan::kOperationCount && facts.reduction < plan::kReductionCount &&
         facts.dtype < kDtypeCount && facts.algorithm < plan::kAlgorithmCount &&
         facts.coding < plan::kCodingCount && facts.ranks >= 1 && facts.ranks <= INT32_MAX &&
         facts.nodes >= 1 && facts.nodes <= facts.ranks;
}

}  // namespace

const char* tw_reason_text(tw_reason reason) {
  return plan::reason_text(static_cast<plan::Reason>(reason));
}

tw_status tw_plan_message(const tw_codec* codec, const tw_plan_settings* settings,
                          const tw_plan_facts* facts, tw_plan_choice* choice) {
  const capi::Taken<tw_plan_settings> own_settings(settings);
  const capi::Taken<tw_plan_facts> own_facts(facts);
  if (!capi::is_open(codec) || !own_settings || !own_facts || !capi::has_size(choice) ||
      !are_sound(*own_settings) || own_facts->dtype >= kDtypeCount ||
      own_facts->peer > TW_PEER_UNKNOWN) {
    return capi::misuse(
        "tw_plan_message: null pointer, destroyed codec, a rate or cost that is none, or a dtype, "
        "peer, size or "
        "field "
        "that is not known");
  }
  const plan::Settings plan_settings{.threshold = own_settings->threshold,
                                     .same_node = own_settings->same_node != 0,
                                     .link_bytes_per_second = own_settings->link_bytes_per_second,
                                     .cost = cost_of(*own_settings),
                                     .force = own_settings->force != 0};
  const plan::Facts plan_facts{.bytes = own_facts->bytes,
                               .dtype = static_cast<Dtype>(own_facts->dtype),
                               .peer = static_cast<plan::Peer>(own_facts->peer),
                               .peer_ready = own_facts->peer_ready != 0};
  const plan::Choice made = plan::plan_message(codec->spec, plan_settings, plan_facts);
  capi::Filled<tw_plan_choice> filled(choice);
  filled->reason = static_cast<uint32_t>(made.reason);
  filled->predicted_raw_seconds = made.raw_seconds;
  filled->predicted_compressed_seconds = made.compressed_seconds;
  filled->least_ratio = made.least_ratio;
  return TW_OK;
}

tw_status tw_plan_collective(const tw_codec* codec, const tw_plan_settings* settings,
                             const tw_collective_facts* facts, tw_collective_choice* choice) {
  return capi::guarded([&] {
    const capi::Taken<tw_plan_settings> own_settings(settings);
    const capi::Taken<tw_collective_facts> own(facts);
    if (!capi::is_open(codec) || !own_settings || !own || !capi::has_size(choice) ||
        !are_known(*own) || !are_sound(*own_settings)) {
      return capi::misuse(
          "tw_plan_collective: null pointer, destroyed codec, a rate or cost that is none, or a "
          "field or size that "
          "is not known");
    }
    const plan::CollectiveSettings plan_settings{
        .threshold = own_settings->threshold,
        .same_node = own_settings->same_node != 0,
        .link_bytes_per_second = own_settings->link_bytes_per_second,
        .cost = cost_of(*own_settings),
        .force = own_settings->force != 0};
    const plan::CollectiveFacts plan_facts{
        .operation = static_cast<plan::Operation>(own->operation),
        .reduction = static_cast<plan::Reduction>(own->reduction),
        .dtype = static_cast<Dtype>(own->dtype),
        .bytes = own->bytes,
        .spread = {static_cast<int>(own->ranks), static_cast<int>(own->nodes)},
        .algorithm = static_cast<plan::Algorithm>(own->algorithm),
        .coding = static_cast<plan::Coding>(own->coding),
        .ways = collective::all_ways()};
    const plan::CollectivePlan made = plan::plan_collective(codec->spec, plan_settings, plan_facts);
    capi::Filled<tw_collective_choice> filled(choice);
    filled->reason = static_cast<uint32_t>(made.reason);
    filled->algorithm = static_cast<uint32_t>(made.algorithm);
    filled->coding = static_cast<uint32_t>(made.coding);
    filled->piece_bytes = made.piece_bytes;
    filled->predicted_raw_seconds = made.raw_seconds;
    filled->predicted_compressed_seconds = made.seconds;
    filled->least_ratio = made.least_ratio;
    return TW_OK;
  });
}

namespace {

const char* text_of(uint32_t value, int count, const char* (*name)(uint32_t)) {
  return value < static_cast<uint32_t>(count) ? name(value) : nullptr;
}

}  // namespace

const char* tw_operation_text(uint32_t operation) {
  return text_of(operation, plan::kOperationCount, [](uint32_t value) {
    return collective::operation_name(static_cast<plan::Operation>(value));
  });
}

const char* tw_algorithm_text(uint32_t algorithm) {
  return text_of(algorithm, plan::kAlgorithmCount, [](uint32_t value) {
    return collective::algorithm_name(static_cast<plan::Algorithm>(value));
  });
}

const char* tw_coding_text(uint32_t coding) {
  return text_of(coding, plan::kCodingCount, [](uint32_t value) {
    return collective::coding_name(static_cast<plan::Coding>(value));
  });
}

uint32_t tw_schedule_describe(uint32_t index, uint32_t* operation, uint32_t* algorithm,
                              uint32_t* coding) {
  const auto rows = collective::algorithms();
  if (index >= rows.size()) return 0;
  if (operation == nullptr || algorithm == nullptr || coding == nullptr) return 0;
  *operation = static_cast<uint32_t>(rows[index].operation);
  *algorithm = static_cast<uint32_t>(rows[index].algorithm);
  *coding = static_cast<uint32_t>(rows[index].coding);
  return 1;
}
