// Which launchers are spoken to, by the variables that they leave to their ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "fake_pmi_server.h"
#include "shim/mpi/job/job.h"

namespace thinwire::mpi {
namespace {

const std::string kCapabilities = "0 65536 1 0 1 0,1,2";

class PmiEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    set("PMI_FD", std::to_string(server_.client_end()).c_str());
    set("PMI_RANK", "1");
    set("PMI_SIZE", "4");
    set("MPI_LOCALNRANKS", "2");
    set("MPI_LOCALRANKID", "1");
  }
  void TearDown() override {
    for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID",
                             "PMI_TOTALVIEW", "PMIX_RANK", "PMIX_NAMESPACE"}) {
      unsetenv(name);
    }
  }
  void set(const char* name, const char* value) { setenv(name, value, 1); }

  FakePmiServer server_;
};

TEST_F(PmiEnvironment, OfHydraIsTaken) {
  auto launcher = find_pmi_launcher();
  ASSERT_TRUE(launcher);
  launcher->publish(kCapabilities);
  EXPECT_TRUE(launcher->published());
  EXPECT_EQ(launcher->capabilities_of(1).text, kCapabilities);
  EXPECT_EQ(rank_by_launcher(), 1);
}

// Slurm's, which ends the job step if it is greeted twice.
TEST_F(PmiEnvironment, OfAnotherLauncherIsNotGreeted) {
  unsetenv("MPI_LOCALNRANKS");
  auto launcher = find_pmi_launcher();
  ASSERT_TRUE(launcher);
  launcher->publish(kCapabilities);
  launcher->mpi_has_started();
  EXPECT_FALSE(launcher->published());
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(PmiEnvironment, WithoutANumberOrADescriptorIsRefused) {
  for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) {
    for (const char* value : {"", "x", "-1", "99999999999"}) {
      SetUp();
      set(name, value);
      EXPECT_FALSE(find_pmi_launcher()) << name << '=' << value;
    }
    SetUp();
    unsetenv(name);
    EXPECT_FALSE(find_pmi_launcher()) << name;
  }
}

TEST_F(PmiEnvironment, WithADebuggerIsRefused) {
  set("PMI_TOTALVIEW", "1");
  EXPECT_FALSE(find_pmi_launcher());
}

// A descriptor that was closed and used again.
TEST_F(PmiEnvironment, NamingNoSocketIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  set("PMI_FD", std::to_string(ends[0]).c_str());
  EXPECT_FALSE(find_pmi_launcher());
  close(ends[0]);
  EXPECT_FALSE(find_pmi_launcher());
  close(ends[1]);
}

// A PMIx job that starts a hydra of its own leaves its variables to the ranks inside.
TEST_F(PmiEnvironment, OfHydraInsideAPmixJobIsHydras) {
  set("PMIX_NAMESPACE", "outer");
  set("PMIX_RANK", "0");
  Job job;
  job.publish(Capabilities{.codecs = {0}});
  job.learn_locality(0);
  EXPECT_EQ(job.name(), "kvs_7_0");
  EXPECT_EQ(rank_by_launcher(), 1);
  EXPECT_EQ(job.ranks_on_this_node(), 2);
  EXPECT_TRUE(job.capabilities_of(1).capabilities);
  job.leave();
  EXPECT_FALSE(job.reachable());
  EXPECT_TRUE(job.capabilities_of(1).known);
}

TEST_F(PmiEnvironment, HoldsTextThatIsNoneForNotKnown) {
  Job job;
  job.publish(Capabilities{.codecs = {0}});
  job.learn_locality(0);
  server_.put("thinwire.capabilities.0", "nonsense");
  EXPECT_FALSE(job.capabilities_of(0).known);
  EXPECT_FALSE(job.capabilities_of(0).capabilities);
}

TEST(RankByLauncher, IsWhatTheVariablesSay) {
  EXPECT_FALSE(rank_by_launcher());
  setenv("PMIX_RANK", "3", 1);
  EXPECT_EQ(rank_by_launcher(), 3);
  setenv("PMIX_RANK", "three", 1);
  EXPECT_FALSE(rank_by_launcher());
  unsetenv("PMIX_RANK");
}

}  // namespace
}  // namespace thinwire::mpi
