// costs: any text after a right heading, or any at all. What is read has sound rows.
#include <cmath>
#include <memory>
#include <string>

#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
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
