#include "collectives/settings.h"

#include <cstdlib>
#include <optional>
#include <sstream>

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

void complain(bool speaks, const char* variable, const std::string& what) {
  if (speaks) tw_log(TW_LOG_ERROR, (std::string(variable) + ": " + what).c_str());
}

// Calls `take(word)` for each word between commas; false, logged, where it knows none of that name.
template <typename Take>
bool read_words(const char* variable, bool speaks, Take&& take) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return false;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (take(word)) continue;
    complain(speaks, variable, "unknown name \"" + word + "\"");
    return false;
  }
  return true;
}

void read_calls(CollectiveSettings& settings, bool speaks) {
  std::uint32_t calls = 0;
  const bool read = read_words("THINWIRE_COLLECTIVES", speaks, [&](const std::string& word) {
    const auto named = calls_named(word);
    calls |= named.value_or(0);
    return named.has_value();
  });
  settings.calls = read ? calls : default_calls();
}

bool is_named(const std::string& word, const char* (*text)(std::uint32_t), std::uint32_t& value) {
  for (std::uint32_t at = 1; text(at) != nullptr; ++at) {
    if (word != text(at)) continue;
    value = at;
    return true;
  }
  return false;
}

void read_algorithm(CollectiveSettings& settings, bool speaks) {
  CollectiveSettings named = settings;
  const bool read = read_words("THINWIRE_ALGORITHM", speaks, [&](const std::string& word) {
    return is_named(word, tw_algorithm_text, named.algorithm) ||
           is_named(word, tw_coding_text, named.coding);
  });
  if (read) settings = named;
}

std::string calls_text(std::uint32_t calls) {
  if (calls == default_calls()) return "on";
  std::string text;
  for (const Name& name : kNames) {
    if ((calls & name.bit) != 0) text += (text.empty() ? "" : ",") + std::string(name.text);
  }
  return text.empty() ? "off" : text;
}

}  // namespace

CollectiveSettings read_collective_settings(bool speaks) {
  CollectiveSettings settings;
  read_calls(settings, speaks);
  read_algorithm(settings, speaks);
  // What is wrong with it is said by who reads it for messages.
  const char* link = std::getenv("THINWIRE_LINK");
  double rate = 0;
  if (link != nullptr && tw_link_rate_parse(link, &rate) == TW_OK) {
    settings.link_bytes_per_second = rate;
  }
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
  out << ", version " << tw_version();
  return out.str();
}

}  // namespace thinwire::mpi
