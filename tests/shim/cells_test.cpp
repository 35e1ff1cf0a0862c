// The tables of a trace: what is counted where, what has no room, and how long bins last.
#include "shim/common/trace/cells.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "shim/common/trace/lines.h"
#include "shim/common/trace/metrics.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

TEST(Cells, KeysComeBackAsTheyWere) {
  for (const CellKey& key : {CellKey{0, TW_PEER_UNKNOWN, 3, 31, 63, -1},
                             CellKey{14, 0, 255, 0, 0, (1 << 30) - 3}, CellKey{}}) {
    EXPECT_EQ(unpacked(packed(key)), key);
    EXPECT_NE(packed(key), 0U);
  }
}

TEST(Cells, OneOfEachKind) {
  Cells cells;
  Cell& first = cells.of({0, 1, 0, 0, 1, 7});
  EXPECT_EQ(&cells.of({0, 1, 0, 0, 1, 7}), &first);
  EXPECT_NE(&cells.of({0, 1, 0, 9, 1, 7}), &first);
  EXPECT_EQ(cells.size(), 2U);
  first.add({100'000, 50'000, 10, 5000, 9000, 7000}, Writers::kMany);
  EXPECT_EQ(first.calls.read(), 1U);
  EXPECT_EQ(first.bytes.read(), 100'000U);
  EXPECT_EQ(first.wire_bytes.read(), 50'000U);
  EXPECT_EQ(first.sizes[16].read(), 1U);
  EXPECT_EQ(first.times[12].read(), 1U);
  EXPECT_EQ(first.predictions[3].read(), 1U);
  EXPECT_EQ(first.raw_nanoseconds.read(), 9000U);
  EXPECT_EQ(first.whole_nanoseconds.read(), 7000U);
}

TEST(Cells, PeersBeyondTheBoundShareOne) {
  Cells cells;
  for (int peer = 0; peer < 100'000; ++peer) {
    cells.of({0, 2, 0, 0, 0, peer}).add({1, 1, 0, 0}, Writers::kOne);
  }
  EXPECT_EQ(cells.size(), Cells::kMostWithPeers + 1);
  EXPECT_EQ(unpacked(cells.at(Cells::kMostWithPeers).key).peer, -1);
  EXPECT_EQ(cells.at(Cells::kMostWithPeers).calls.read(), 100'000 - Cells::kMostWithPeers);
}

TEST(Cells, KindsBeyondTheBoundShareTheLast) {
  Cells cells;
  for (std::uint32_t operation = 0; operation < 15; ++operation) {
    for (std::uint32_t name = 0; name < 64; ++name) {
      for (std::uint32_t reason = 0; reason < 8; ++reason) {
        cells.of({operation, 0, 0, reason, name, -1}).add({1, 1, 0, 0}, Writers::kOne);
      }
    }
  }
  EXPECT_EQ(cells.size(), Cells::kMost);
  EXPECT_EQ(cells.at(Cells::kMost - 1).key, Cells::kOfAllOthers);
  std::uint64_t calls = 0;
  for (std::size_t place = 0; place < cells.size(); ++place) calls += cells.at(place).calls.read();
  EXPECT_EQ(calls, 15U * 64 * 8);
}

TEST(Cells, ThreadsLoseNothing) {
  Cells cells;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cells] {
      for (int at = 0; at < 20'000; ++at) {
        cells.of({0, 2, 0, 0, 0, at % 300}).add({64, 64, 0, 0}, Writers::kMany);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cells.size(), 300U);
  std::uint64_t bytes = 0;
  for (std::size_t place = 0; place < cells.size(); ++place) bytes += cells.at(place).bytes.read();
  EXPECT_EQ(bytes, 4U * 20'000 * 64);
}

TEST(Names, AsManyAsThereIsRoomFor) {
  Names names;
  EXPECT_EQ(names.of(""), 0U);
  const std::uint32_t first = names.of("tp0");
  EXPECT_EQ(names.of("tp0"), first);
  EXPECT_STREQ(names.at(first), "tp0");
  for (int at = 0; at < 200; ++at) names.of(("comm " + std::to_string(at)).c_str());
  EXPECT_EQ(names.of("one more"), 0U);
  EXPECT_EQ(names.of("tp0"), first);
}

TEST(Names, LongOnesAreCut) {
  Names names;
  const std::string name(100, 'a');
  EXPECT_EQ(names.of(name.c_str()), names.of((name + "b").c_str()));
  EXPECT_EQ(std::string(names.at(1)), name.substr(0, Names::kLongest));
}

double seconds_of(std::uint64_t bytes_a_bin) {
  Bins bins;
  double seconds = 0;
  std::uint64_t written = 0;
  while (seconds < 365 * 86400 && bins.take(bytes_a_bin)) {
    seconds += bins.seconds();
    written += bytes_a_bin;
  }
  EXPECT_LE(written, Bins::kMostBytes - Bins::kForTheEnd);
  return seconds;
}

TEST(Bins, LongRunsStayBelowTheBound) {
  constexpr double kDay = 86400;
  EXPECT_GE(seconds_of(200), 365 * kDay);
  EXPECT_GE(seconds_of(5'000), 30 * kDay);
  EXPECT_GE(seconds_of(100'000), 3 * kDay);  // some thousand kinds of messages in each bin
}

TEST(Bins, BeginShortAndGrow) {
  Bins bins;
  EXPECT_EQ(bins.seconds(), 0.25);
  EXPECT_TRUE(bins.take(Bins::kMostBytes / 2));
  EXPECT_EQ(bins.seconds(), 1.0);
  EXPECT_FALSE(bins.take(Bins::kMostBytes));
}

TEST(Kinds, AreCellsWithTheirTexts) {
  Cells cells;
  Names names;
  const std::string name(100, 'n');
  cells.of({0, 2, 0, 0, names.of(name.c_str()), 3})
      .add({64, 32, 100, 200, 400, 300}, Writers::kOne);
  const auto describe = [](const CellKey&) { return CellText{"send", "other node", "mpc"}; };
  tw_stats_kind kind{};
  read_kind(cells.at(0), names, describe, kind);
  EXPECT_STREQ(kind.operation, "send");
  EXPECT_STREQ(kind.communicator, name.substr(0, 63).c_str());
  EXPECT_STREQ(kind.place, "other node");
  EXPECT_STREQ(kind.codec, "mpc");
  EXPECT_STREQ(kind.raw, "");
  EXPECT_EQ(kind.peer, 3);
  EXPECT_EQ(kind.calls, 1U);
  EXPECT_EQ(kind.raw_nanoseconds - kind.whole_nanoseconds, 100U);
  EXPECT_EQ(kind.sizes[6] + kind.times[7] + kind.predictions[6], 3U);
}

TEST(Metrics, SumOverPeersAndBearAnyName) {
  Cells cells;
  Names names;
  const std::uint32_t name = names.of("a \"b\"\\\n");
  for (const std::int32_t peer : {1, 2}) {
    cells.of({0, TW_PEER_OTHER_NODE, 0, 0, name, peer})
        .add({1000, 250, 20, 3000, 900, 40}, Writers::kOne);
  }
  cells.of({1, 0, 0xff, 5, 0, -1}).add({64, 64, 0, 0}, Writers::kOne);
  const auto describe = [](const CellKey& key) {
    return key.operation == 0 ? CellText{"send", "other node", "mpc"}
                              : CellText{"MPI_Bcast", "", "", "off"};
  };
  ProcessFigures figures;
  figures.damaged = 3;
  const std::string text = metrics_text(cells, names, describe, figures, {4096, 9999}, "7");
  const std::string all = R"({rank="7",operation="send",communicator="a \"b\"\\\n",)"
                          R"(place="other node",codec="mpc",raw="")";
  const std::string labels = all + "}";
  for (const std::string& line :
       {"thinwire_calls_total" + labels + " 2",
        "thinwire_bytes_total" + labels + " 2000",
        "thinwire_wire_bytes_total" + labels + " 500",
        "thinwire_seconds_total" + labels + " 6e-06",
        "thinwire_predicted_seconds_total" + labels + " 4e-08",
        "thinwire_raw_seconds_total" + labels + " 1.8e-06",
        "thinwire_took_seconds_total" + labels + " 8e-08",
        std::string("# TYPE thinwire_size_bytes histogram"),
        "thinwire_size_bytes_bucket" + all + R"(,le="1023"} 2)",
        "thinwire_size_bytes_sum" + labels + " 2000",
        "thinwire_size_bytes_count" + labels + " 2",
        "thinwire_time_seconds_bucket" + all + R"(,le="1.023e-06"} 0)",
        "thinwire_time_seconds_bucket" + all + R"(,le="4.095e-06"} 2)",
        "thinwire_time_seconds_bucket" + all + R"(,le="+Inf"} 2)",
        "thinwire_time_seconds_sum" + labels + " 6e-06",
        "thinwire_predicted_time_seconds_bucket" + all + R"(,le="1.023e-06"} 2)",
        std::string(R"(thinwire_pool_peak_bytes{rank="7"} 9999)"),
        std::string(R"(thinwire_calls_total{rank="7",operation="MPI_Bcast",communicator="",)"
                    R"(place="",codec="",raw="off"} 1)"),
        std::string(R"(thinwire_damaged_total{rank="7"} 3)"),
        std::string("# TYPE thinwire_pool_bytes gauge"),
        std::string(R"(thinwire_pool_bytes{rank="7"} 4096)")}) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace thinwire::shim
