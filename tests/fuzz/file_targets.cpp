// policy: any text. What is read has rules that can be asked for any call. costs: any text after a
// right heading, or any at all. What is read has sound rows.
#include <cmath>
#include <memory>
#include <string>

#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

constexpr std::size_t kNumbersBytes = 16;

using Policy = std::unique_ptr<tw_policy, decltype(&tw_policy_destroy)>;

Policy create(const std::string& text) {
  tw_policy* made = nullptr;
  const tw_status status = tw_policy_create(text.c_str(), "policy", &made);
  THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_INVALID_ARGUMENT);
  THINWIRE_FUZZ_CHECK((status == TW_OK) == (made != nullptr));
  return {made, tw_policy_destroy};
}

}  // namespace

void run_policy(const Target&, ByteView input) {
  const std::size_t numbers = std::min(input.size(), kNumbersBytes);
  Reader reader(input.last(numbers));
  const std::string text = text_of(input.first(input.size() - numbers));
  const Policy policy = create(text);
  if (policy == nullptr) {
    THINWIRE_FUZZ_CHECK(std::string(tw_last_error()).starts_with("policy:"));
    return;
  }
  const std::uint32_t rules = tw_policy_rule_count(policy.get());
  THINWIRE_FUZZ_CHECK(rules >= 1 && rules <= 63);
  for (std::uint32_t at = 0; at < rules; ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    THINWIRE_FUZZ_CHECK(tw_policy_describe(policy.get(), at, &rule) == TW_OK);
    THINWIRE_FUZZ_CHECK(rule.line >= 1 && *rule.text != '\0' && *rule.codec != '\0');
  }
  const Policy same = create(text + "\n# the end");
  THINWIRE_FUZZ_CHECK(same != nullptr &&
                      tw_policy_hash(same.get()) == tw_policy_hash(policy.get()));
  tw_policy_call call{};
  call.size = sizeof call;
  call.operation = reader.take<std::uint8_t>() % 10;
  call.dtype = reader.take<std::uint8_t>() % 6;
  call.span = reader.take<std::uint8_t>() % 4;
  call.bytes = reader.take<std::uint64_t>();
  call.rules = tw_policy_rules(policy.get(), "dp0", reader.take<std::uint8_t>());
  THINWIRE_FUZZ_CHECK(call.rules >> rules == 0);
  const std::int32_t found = tw_policy_match(policy.get(), &call);
  THINWIRE_FUZZ_CHECK(found == -1 || (found == -2 && call.bytes == UINT64_MAX) ||
                      (call.rules >> found & 1U) != 0);
}

std::vector<Bytes> policy_seeds(const Target&) {
  const std::string off = "[[rule]]\ncodec = \"off\"\n";
  std::vector<Bytes> seeds;
  for (const std::string& text :
       {off, off + "operation = [\"send\", 'bcast',] # both\n",
        off + "communicator = \"dp*\"\n\n" + off + "communicator = \"d?*\"\n",
        off + "size-from = \"64KiB\"\nsize-below = 1048576\nranks-from = 2\nranks-below = 9\n",
        std::string("[[rule]]\nname = \"a\"\r\ndtype = [\"f32\",\n\"f64\"]\nspan = "
                    "\"between-nodes\"\ncodec = \"szp:abs=1e-4\"\n"),
        off + "holds = \"bf16\"\n", off + "holds = 'f32'\noperation = \"reduce\"\n",
        std::string("# \xC3\xA9\n[[rule]]\ncodec = 'default'"), std::string("[rule]\n"),
        off + "codec = \"off\"\n", off + off}) {
    Bytes seed = bytes_of(text);
    seed.resize(seed.size() + kNumbersBytes);
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

namespace {

std::string head() {
  return std::string("thinwire-costs 1\nmachine: ") + tw_machine() + "\nversion: " + tw_version() +
         "\n";
}

void check_rows(const tw_costs* costs) {
  tw_codec* mpc = nullptr;
  THINWIRE_FUZZ_CHECK(tw_codec_create("mpc", &mpc) == TW_OK);
  for (std::uint32_t at = 0; at < tw_costs_count(costs); ++at) {
    tw_costs_row row{};
    row.size = sizeof row;
    THINWIRE_FUZZ_CHECK(tw_costs_describe(costs, at, &row) == TW_OK);
    THINWIRE_FUZZ_CHECK(row.bytes > 0 && row.on_gpu <= 1 && row.dtype <= TW_F8_E5M2);
    THINWIRE_FUZZ_CHECK(row.cost.encode_bytes_per_second > 0 && row.cost.ratio > 0 &&
                        std::isfinite(row.cost.decode_bytes_per_second));
    tw_codec_cost cost{};
    cost.size = sizeof cost;
    if (tw_costs_find(costs, mpc, row.dtype, row.bytes, row.on_gpu, &cost) == 1) {
      THINWIRE_FUZZ_CHECK(cost.ratio > 0);
    }
  }
  tw_codec_destroy(mpc);
}

}  // namespace

void run_costs(const Target&, ByteView input) {
  for (const std::string& before : {head(), std::string()}) {
    tw_costs* made = nullptr;
    const std::string text = before + text_of(input);
    const tw_status status = tw_costs_create(text.c_str(), "table", &made);
    THINWIRE_FUZZ_CHECK(status == TW_OK || status == TW_INVALID_ARGUMENT);
    THINWIRE_FUZZ_CHECK((status == TW_OK) == (made != nullptr));
    if (made == nullptr) {
      THINWIRE_FUZZ_CHECK(std::string(tw_last_error()).starts_with("table:"));
      continue;
    }
    check_rows(made);
    tw_costs_destroy(made);
  }
}

std::vector<Bytes> costs_seeds(const Target&) {
  const std::string row = "mpc:stride=1 f32 1048576 host 1.5e9 2e9 1.5\n";
  return {bytes_of("end 0\n"), bytes_of(row + "end 1\n"),
          bytes_of(row + "zfp:rate=8 f64 65536 gpu 1e10 1e-3 7.99\nend 2\n"), bytes_of(row),
          bytes_of("thinwire-costs 1\nmachine: x\nversion: 0\n" + row + "end 1\n")};
}

}  // namespace thinwire::fuzz
