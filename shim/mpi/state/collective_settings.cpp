#include "shim/mpi/state/collective_settings.h"

#include <optional>
#include <sstream>

#include "choose/timing_round.h"

namespace thinwire::mpi {
namespace {

struct Name {
  const char* text;
  std::uint32_t bit;
  bool by_default;
};

constexpr Name kNames[] = {
#define THINWIRE_NAME(name, text, by_default) {text, bit_of(CollectiveCall::name), by_default},
    THINWIRE_COLLECTIVE_CALLS(THINWIRE_NAME)
#undef THINWIRE_NAME
};

constexpr std::uint32_t default_calls() {
  std::uint32_t calls = 0;
  for (const Name& name : kNames) calls |= name.by_default ? name.bit : 0;
  return calls;
}

std::optional<std::uint32_t> calls_named(const std::string& word) {
  if (word == "on") return default_calls();
  if (word == "off" || word == "0") return 0;
  for (const Name& name : kNames) {
    if (word == name.text) return name.bit;
  }
  return std::nullopt;
}

// Calls `take(word)` for each word between commas.
template <typename Take>
void for_each_word(const char* variable, Take&& take) {
  const char* text = tw_setting_value(variable);
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) take(word);
}

void read_calls(CollectiveSettings& settings) {
  if (tw_setting_value("THINWIRE_COLLECTIVES") == nullptr) settings.calls = default_calls();
  for_each_word("THINWIRE_COLLECTIVES",
                [&](const std::string& word) { settings.calls |= calls_named(word).value_or(0); });
}

void name(const std::string& word, const char* (*text)(std::uint32_t), std::uint32_t& value) {
  for (std::uint32_t at = 1; text(at) != nullptr; ++at) {
    if (word == text(at)) value = at;
  }
}

void read_algorithm(CollectiveSettings& settings) {
  for_each_word("THINWIRE_ALGORITHM", [&](const std::string& word) {
    name(word, tw_algorithm_text, settings.algorithm);
    name(word, tw_coding_text, settings.coding);
  });
}

std::string calls_text(std::uint32_t calls) {
  if (calls == default_calls()) return "on";
  std::string text;
  for (const Name& name : kNames) {
    if ((calls & name.bit) == 0) continue;
    if (!text.empty()) text += ',';
    text += name.text;
  }
  return text.empty() ? "off" : text;
}

// How messages in parts end: ranks that take them to end otherwise would wait for each other.
constexpr const char* kPartRules = "parts are answered";

}  // namespace

CollectiveSettings read_collective_settings() {
  CollectiveSettings settings;
  read_calls(settings);
  read_algorithm(settings);
  const char* link = tw_setting_value("THINWIRE_LINK");
  if (link != nullptr) tw_link_rate_parse(link, &settings.link_bytes_per_second);
  for_each_word("THINWIRE_BCAST_ROOT",
                [&](const std::string& word) { settings.root_decodes = word == "decoded"; });
  return settings;
}

std::string collective_settings_text(const CollectiveSettings& settings, const tw_codec* codec,
                                     const tw_plan_settings& plan) {
  std::ostringstream out;
  out << "codec " << tw_codec_spec(codec) << ", threshold " << plan.threshold << ", link "
      << settings.link_bytes_per_second << " B/s, same node " << plan.same_node << ", collectives "
      << calls_text(settings.calls);
  if (settings.algorithm != TW_ALGORITHM_PLANNED) {
    out << ", algorithm " << tw_algorithm_text(settings.algorithm);
  }
  if (settings.coding != TW_CODING_PLANNED) out << ", coding " << tw_coding_text(settings.coding);
  if (settings.root_decodes) out << ", decoded at a broadcast's root";
  if (plan.force != 0) out << ", forced";
  if (settings.policy != 0) out << ", policy " << std::hex << settings.policy << std::dec;
  out << ", " << choose::kTimingRules << ", " << kPartRules << ", version " << tw_version();
  return out.str();
}

}  // namespace thinwire::mpi
