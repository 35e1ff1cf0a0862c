// The table of targets: the fixed ones, and those that every codec of the registry has.
#include "codec/registry.h"
#include "fuzz/all_targets.h"

namespace thinwire::fuzz {
namespace {

std::vector<Target> make_targets() {
  std::vector<Target> targets = {
      {"header", nullptr, run_header, nullptr, header_seeds},
      {"frame", nullptr, run_frame, mend_frame, frame_seeds},
      {"wire", nullptr, run_wire, mend_wire, wire_seeds},
      {"delta", nullptr, run_delta, mend_delta, delta_seeds},
      {"slot", nullptr, run_slot, mend_slot, slot_seeds},
      {"spec", nullptr, run_spec, nullptr, spec_seeds},
      {"policy", nullptr, run_policy, nullptr, policy_seeds},
      {"costs", nullptr, run_costs, nullptr, costs_seeds},
      {"quantity", nullptr, run_quantity, nullptr, quantity_seeds},
      {"capabilities", nullptr, run_capabilities, nullptr, capabilities_seeds},
      {"launcher", nullptr, run_launcher, nullptr, launcher_seeds},
      {"helper", nullptr, run_helper, nullptr, helper_seeds},
      {"stamp", nullptr, run_stamp, nullptr, stamp_seeds},
  };
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->gpu_only) continue;
    const std::string name = codec->name;
    targets.push_back({"decode-" + name, codec, run_decode, mend_decode, decode_seeds});
    targets.push_back({"round-trip-" + name, codec, run_round_trip, nullptr, round_trip_seeds});
  }
  return targets;
}

}  // namespace

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = make_targets();
  return targets;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : all_targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace thinwire::fuzz
