// The table of settings, and what is said of a wrong or unknown one.
#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/job_rank.h"

namespace thinwire {
namespace {

std::vector<std::string> judged(std::vector<const char*> environment) {
  return judge_settings(environment);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(Settings, RowsHaveNamesOfTheirOwnAndFallbacksThatAreTaken) {
  std::set<std::string> names;
  for (const Setting& row : all_settings()) {
    EXPECT_TRUE(std::string_view(row.name).starts_with("THINWIRE_")) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_STRNE(row.meaning, "") << row.name;
    EXPECT_STRNE(kind_text(row.kind), "") << row.name;
    EXPECT_EQ(find_setting(row.name), &row);
    EXPECT_EQ(row.kind == SettingKind::kWords, *row.words != '\0') << row.name;
    const bool is_value = row.kind == SettingKind::kSize || row.kind == SettingKind::kLevel;
    EXPECT_TRUE(!is_value || check_setting(row, row.fallback).ok()) << row.name;
  }
}

TEST(Settings, RightOnesAndThoseOfOthersPassUnsaid) {
  EXPECT_TRUE(judged({"THINWIRE_THRESHOLD=1MiB", "THINWIRE_LINK=10gbit", "THINWIRE_LOG=debug",
                      "THINWIRE_SAME_NODE=1", "THINWIRE_COLLECTIVES=on,alltoallv",
                      "THINWIRE_ALGORITHM=ring,per-hop", "THINWIRE_DATA=/data",
                      "THINWIRE_TEST_ANYTHING=2", "THINWIRE_CODEC=zfp:rate=16",
                      "THINWIRE_REPORT=/a/file", "PATH=/bin", "MY_THINWIRE_TRESHOLD=1"})
                  .empty());
  EXPECT_TRUE(judged({"THINWIRE_THRESHOLD=", "THINWIRE_TRESHOLD=", "THINWIRE_LOG="}).empty());
}

TEST(Settings, EachWrongOneIsNamedWithWhatHoldsInstead) {
  const struct {
    const char* variable;
    const char* name;
    const char* holds;
  } cases[] = {
      {"THINWIRE_THRESHOLD=many", "THINWIRE_THRESHOLD: ", "64KiB holds"},
      {"THINWIRE_LINK=fast", "THINWIRE_LINK: ", "not stated holds"},
      {"THINWIRE_LOG=loud", "THINWIRE_LOG: ", "warning holds"},
      {"THINWIRE_SAME_NODE=2", "THINWIRE_SAME_NODE: '2' is neither 0 nor 1", "0 holds"},
      {"THINWIRE_SAME_NODE=yes", "THINWIRE_SAME_NODE: ", "0 holds"},
      {"THINWIRE_GPU_AWARE=maybe", "THINWIRE_GPU_AWARE: ", "as the MPI says holds"},
      {"THINWIRE_POOL=-1", "THINWIRE_POOL: ", "2GiB holds"},
      {"THINWIRE_COLLECTIVES=on,bcats", "THINWIRE_COLLECTIVES: 'bcats'", "on holds"},
      {"THINWIRE_COLLECTIVES=bcast,", "THINWIRE_COLLECTIVES: ''", "on holds"},
      {"THINWIRE_ALGORITHM=rings", "THINWIRE_ALGORITHM: 'rings'", "planned holds"},
      {"THINWIRE_DISABLE=yes", "THINWIRE_DISABLE: ", "1 holds"},
  };
  for (const auto& each : cases) {
    const auto sentences = judged({each.variable});
    ASSERT_EQ(sentences.size(), 1u) << each.variable;
    EXPECT_TRUE(sentences[0].starts_with(each.name)) << sentences[0];
    EXPECT_TRUE(has(sentences[0], each.holds)) << sentences[0];
    EXPECT_TRUE(has(sentences[0], "no lossy codec is used")) << sentences[0];
  }
  EXPECT_EQ(judged({"THINWIRE_LOG=loud", "THINWIRE_LINK=fast"}).size(), 2u);
}

TEST(Settings, AnUnknownNameIsToldTheNearestThatIsKnown) {
  EXPECT_EQ(nearest_setting("THINWIRE_TRESHOLD"), "THINWIRE_THRESHOLD");
  EXPECT_EQ(nearest_setting("THINWIRE_CODECS"), "THINWIRE_CODEC");
  EXPECT_EQ(nearest_setting("THINWIRE_SAMENODE"), "THINWIRE_SAME_NODE");
  EXPECT_EQ(nearest_setting("THINWIRE_LOG_LEVEL"), "THINWIRE_LOG");
  EXPECT_EQ(nearest_setting("THINWIRE_OCDEC"), "THINWIRE_CODEC");
  EXPECT_EQ(nearest_setting("THINWIRE_FLAVOUR"), "");
  EXPECT_EQ(nearest_setting("THINWIRE_"), "");
  const auto sentences = judged({"THINWIRE_TRESHOLD=1MiB"});
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_TRUE(has(sentences[0], "THINWIRE_THRESHOLD, where 64KiB holds")) << sentences[0];
  ASSERT_EQ(judged({"THINWIRE_FLAVOUR=sweet"}).size(), 1u);
}

TEST(Settings, AValueIsReadOnlyWhereItIsRight) {
  const auto read = [](const char* name, const char* value) {
    setenv(name, value, 1);
    const char* found = setting_value(name);
    const std::string text = found == nullptr ? "null" : found;
    unsetenv(name);
    return text;
  };
  EXPECT_EQ(read("THINWIRE_THRESHOLD", "1MiB"), "1MiB");
  EXPECT_EQ(read("THINWIRE_THRESHOLD", "many"), "null");
  EXPECT_EQ(read("THINWIRE_THRESHOLD", ""), "null");
  EXPECT_EQ(read("THINWIRE_SAME_NODE", "2"), "null");
  EXPECT_EQ(read("THINWIRE_DISABLE", "yes"), "1");
  EXPECT_EQ(read("THINWIRE_TRESHOLD", "1MiB"), "null");
}

// The rank that the launcher of the tests gives does not count here.
class JobRank : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                             "SLURM_PROCID", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
      unsetenv(name);
    }
  }
};

TEST_F(JobRank, IsWhatTheInnermostLauncherSays) {
  EXPECT_EQ(job_rank(), std::nullopt);
  EXPECT_TRUE(speaks_for_job());
  setenv("RANK", "5", 1);
  EXPECT_EQ(job_rank(), 5);
  EXPECT_FALSE(speaks_for_job());
  // A variable of the user's own, beside what mpirun says.
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(job_rank(), 0);
  EXPECT_TRUE(speaks_for_job());
  // srun starts torchrun once a node.
  unsetenv("OMPI_COMM_WORLD_RANK");
  setenv("SLURM_PROCID", "0", 1);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(job_rank(), 5);
}

TEST_F(JobRank, HasAJobOfASize) {
  EXPECT_EQ(job_size(), std::nullopt);
  setenv("SLURM_NTASKS", "16", 1);
  EXPECT_EQ(job_size(), 16);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(job_size(), 4);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(job_size(), 8);
}

TEST_F(JobRank, IsANumber) {
  for (const char* text : {"", "-1", "2x", "first"}) {
    setenv("PMI_RANK", text, 1);
    EXPECT_EQ(job_rank(), std::nullopt) << text;
  }
  setenv("SLURM_PROCID", "12", 1);
  EXPECT_EQ(job_rank(), 12);
}

}  // namespace
}  // namespace thinwire
