#include "state/settings.h"

#include <algorithm>
#include <sstream>

#include "shim/common/settings.h"
#include "shim/common/silence.h"

namespace thinwire::nccl {
namespace {

// "off" takes none.
std::uint32_t dtypes_of(const tw_codec* codec) {
  if (tw_codec_ids(codec, nullptr, 0) == 0) return 0;
  if (!shim::row_of(codec)) return shim::kFloats;
  std::uint32_t taken = 0;
  for (std::uint32_t dtype = TW_F32; dtype <= TW_F8_E5M2; ++dtype) {
    if (tw_codec_ids_for(codec, dtype, nullptr, 0) != 0) taken |= 1U << dtype;
  }
  return taken;
}

bool is_lossless(const tw_codec* codec) {
  const auto row = shim::row_of(codec);
  return !row || row->lossless != 0;
}

bool sizes_follow_error(const tw_codec* codec) {
  return !is_lossless(codec) && shim::row_of(codec)->fixed_size == 0;
}

// One of the words that the setting may have.
bool is_pairwise() {
  const char* const text = tw_setting_value("THINWIRE_ALGORITHM");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == tw_algorithm_text(TW_ALGORITHM_PAIRWISE)) return true;
  }
  return false;
}

double stated_link() {
  const char* const text = tw_setting_value("THINWIRE_LINK");
  double rate = 0;
  return text != nullptr && tw_link_rate_parse(text, &rate) == TW_OK ? rate : 0;
}

// Why a codec is not taken, "" if it is: slots lie in GPU memory.
std::string objection_to(const tw_codec* codec) {
  if (tw_codec_has_fill(codec) == 0) return "";
  return std::string(tw_codec_spec(codec)) + ": slots take no codec with fill=, messages of MPI do";
}

CodecUse use_of(tw_codec* codec) {
  CodecUse made;
  made.codec = codec;
  made.dtypes = dtypes_of(codec);
  const bool needs_link = tw_codec_needs_link(codec) != 0 && stated_link() == 0;
  made.goes_by_machine = needs_link && tw_link_of_nccl(1) > 0;
  made.lacks_link = needs_link && !made.goes_by_machine;
  // Nobody promises an order of additions under NCCL.
  made.sums = tw_codec_reductions(codec) != TW_REDUCTIONS_NATIVE;
  const tw_reductions reductions = tw_codec_reductions(codec);
  made.exact = reductions == TW_REDUCTIONS_EXACT;
  made.orders = made.exact || reductions == TW_REDUCTIONS_ORDERED;
  made.sizes_follow_error = sizes_follow_error(codec);
  made.lossless = is_lossless(codec);
  made.sums_alone = tw_codec_reductions(codec) == TW_REDUCTIONS_ALONE;
  return made;
}

// Whether some rule says which communicators decide together.
bool names_siblings(const tw_policy* policy) {
  for (std::uint32_t at = 0; at < tw_policy_rule_count(policy); ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    if (tw_policy_describe(policy, at, &rule) == TW_OK && rule.siblings > 1) return true;
  }
  return false;
}

// Numbers of codecs follow from the rules alone, so that ranks of one policy number them alike.
void read_policy(Settings& read) {
  read.policy = tw_policy_of_environment();
  for (tw_codec* each : shim::codecs_of(read.policy, read.codec_of_rule)) {
    if (const std::string why = objection_to(each); !why.empty()) {
      if (tw_job_rank() <= 0) {
        tw_log(TW_LOG_ERROR, ("THINWIRE_POLICY: " + why + ": its rules say off").c_str());
      }
      tw_codec_destroy(each);
      tw_codec_create("off", &each);
    }
    read.codecs.push_back(use_of(each));
  }
}

Settings read() {
  Settings read;
  read.disabled = shim::is_disabled();
  if (read.disabled) return read;
  read.codecs.push_back(use_of(shim::read_codec(tw_job_rank() <= 0, "call", objection_to)));
  read_policy(read);
  read.threshold = shim::threshold();
  read.rounds = is_pairwise();
  read.force = shim::is_on("THINWIRE_FORCE");
  read.same_node = shim::is_on("THINWIRE_SAME_NODE");
  read.graphs = shim::is_on("THINWIRE_GRAPHS");
  read.link = stated_link();
  read.most_connected = shim::size_or("THINWIRE_CONNECTIONS", 16);
  read.references = shim::size_or("THINWIRE_REFERENCES", 0);
  read.could_compress = std::ranges::any_of(read.codecs, &CodecUse::could_compress);
  read.orders = std::ranges::any_of(read.codecs, &CodecUse::orders);
  const auto loses = [](const CodecUse& use) { return use.could_compress() && !use.lossless; };
  read.joins =
      !read.force && (std::ranges::any_of(read.codecs, loses) || names_siblings(read.policy));
  const auto is_on = [](const CodecUse& use) { return use.dtypes != 0; };
  read.asked_for = shim::is_asked_for() && std::ranges::any_of(read.codecs, is_on);
  read.report = shim::report();
  read.trace = shim::text_or("THINWIRE_TRACE", "");
  read.metrics = shim::text_or("THINWIRE_METRICS", "");
  return read;
}

}  // namespace

const Settings& settings() {
  static const Settings* const made = new Settings(read());
  return *made;
}

}  // namespace thinwire::nccl
