// Tests that ranks of one node find what others of it were told, and nothing else.
#include "shim/mpi/job/node_cards.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "shim/mpi/job/job.h"

namespace thinwire::mpi {
namespace {

constexpr int kRanks = 40;

TEST(NodeCards, AreFoundByOthers) {
  NodeCards first, second;
  const std::string where = first.offer();
  ASSERT_FALSE(where.empty());
  // Whoever comes first makes it as long as it has to be.
  ASSERT_TRUE(second.open(where, kRanks));
  ASSERT_TRUE(first.open_own(kRanks));
  EXPECT_EQ(second.find(3), std::nullopt);
  first.keep(3, "0 65536 1 0 1 0,1,2");
  EXPECT_EQ(second.find(3), "0 65536 1 0 1 0,1,2");
  second.keep(kRanks - 1, "");
  EXPECT_EQ(first.find(kRanks - 1), "");
  // A text that is there stays.
  second.keep(3, "another");
  EXPECT_EQ(first.find(3), "0 65536 1 0 1 0,1,2");
}

TEST(NodeCards, AreFoundByOtherProcesses) {
  NodeCards first;
  const std::string where = first.offer();
  ASSERT_TRUE(first.open_own(kRanks));
  const pid_t child = fork();
  if (child == 0) {
    NodeCards second;
    if (!second.open(where, kRanks)) _exit(1);
    second.keep(7, "a text");
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(first.find(7), "a text");
}

TEST(NodeCards, KeepNeitherWhatIsTooLongNorOtherRanks) {
  NodeCards one;
  one.offer();
  ASSERT_TRUE(one.open_own(kRanks));
  one.keep(1, std::string(505, 'x'));
  EXPECT_EQ(one.find(1), std::nullopt);
  one.keep(1, std::string(504, 'x'));
  EXPECT_EQ(one.find(1), std::string(504, 'x'));
  for (const int rank : {-1, kRanks, 1 << 30}) {
    one.keep(rank, "text");
    EXPECT_EQ(one.find(rank), std::nullopt);
  }
}

TEST(NodeCards, AreNotTakenForOtherMemory) {
  NodeCards first;
  const std::string where = first.offer();
  const std::string process = where.substr(0, where.find(':') + 1);
  const std::string token = where.substr(where.rfind(':'));
  const int other = memfd_create("another", MFD_CLOEXEC);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  NodeCards second;
  for (const std::string& wrong :
       {std::string(), std::string("1"), std::string("1:2"), std::string("a:b:c"), where + "x",
        where + ":1", "-1" + where, process + "-1" + token, process + "100000" + token,
        process + std::to_string(other) + token, process + std::to_string(null) + token,
        where.substr(0, where.rfind(':')) + ":1", "999999999" + where.substr(where.find(':'))}) {
    EXPECT_FALSE(second.open(wrong, kRanks)) << wrong;
    EXPECT_EQ(second.find(0), std::nullopt);
  }
  close(other);
  close(null);
  EXPECT_TRUE(second.open(where, kRanks));
  // After it is gone nobody opens it; who has it, has it.
  first.leave();
  NodeCards third;
  EXPECT_FALSE(third.open(where, kRanks));
  second.keep(0, "text");
  EXPECT_EQ(second.find(0), "text");
}

// A program whose output is closed opens a file next, which must not become its output.
TEST(NodeCards, AreNoStandardStream) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
    NodeCards one, other;
    const std::string where = one.offer();
    const int number = std::stoi(where.substr(where.find(':') + 1));
    const bool is_above = number > STDERR_FILENO && one.open_own(kRanks) &&
                          other.open(where, kRanks) && fcntl(STDOUT_FILENO, F_GETFD) < 0;
    _exit(is_above ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(NodeCards, AreNotTheProgramsFile) {
  NodeCards one;
  const std::string where = one.offer();
  const int number = std::stoi(where.substr(where.find(':') + 1));
  close(number);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(dup2(null, number), number);
  EXPECT_FALSE(one.open_own(kRanks));
  one.leave();
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "it is the program's";
  close(number);
  close(null);
}

TEST(NodeCards, AreLeftOutIfTheyWouldTakeMuch) {
  NodeCards one;
  one.offer();
  EXPECT_FALSE(one.open_own(1 << 20));
  EXPECT_TRUE(one.open_own(1 << 16));
}

TEST(NodeCards, EndNoProcessThatMayWriteNoFiles) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const rlim_t most : {rlim_t{0}, rlim_t{4096}}) {
    const rlimit little{most, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    NodeCards one;
    one.offer();
    EXPECT_FALSE(one.open_own(kRanks));
  }
  setrlimit(RLIMIT_FSIZE, &before);
}

// Counts what it is asked.
class CountingLauncher final : public Launcher {
 public:
  CountingLauncher(std::string* first, int& asked) : first_(first), asked_(asked) {}
  void publish(const std::string&) override {}
  bool published() const override { return true; }
  const std::string& job_name() const override { return name_; }
  std::vector<int> ranks_on_this_node() override { return {0, 1}; }
  bool always_answers() const override { return true; }
  CapabilitiesText capabilities_of(int rank) override {
    ++asked_;
    return {true, rank == 0 ? *first_ : "0 65536 1 0 1 0,1,2 x"};
  }

 private:
  std::string* first_;
  int& asked_;
  std::string name_ = "job";
};

TEST(Job, AsksForEachRankOnceANode) {
  std::string first = "0 65536 1 0 1 0,1,2 x";
  int asked = 0;
  NodeCards offered;  // by rank 0, in another process
  first += ' ' + offered.offer();
  ASSERT_TRUE(offered.open_own(kRanks));
  offered.keep(5, "7 65536 1 0 1 0,1,2 y");
  Job second(std::make_unique<CountingLauncher>(&first, asked));
  second.learn_locality(1);
  EXPECT_TRUE(second.share_on_node(1, kRanks));
  EXPECT_TRUE(second.share_on_node(1, kRanks));
  EXPECT_EQ(asked, 1);
  ASSERT_TRUE(second.capabilities_of(5).capabilities);
  EXPECT_EQ(second.capabilities_of(5).capabilities->format_version, 7U);
  EXPECT_EQ(asked, 1);
  ASSERT_TRUE(second.capabilities_of(6).capabilities);
  EXPECT_EQ(asked, 2);
  // A text that cannot be read says nothing.
  offered.keep(8, "no capabilities");
  EXPECT_TRUE(second.capabilities_of(8).capabilities);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(offered.find(6), "0 65536 1 0 1 0,1,2 x");
  EXPECT_TRUE(second.capabilities_of(6).capabilities);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace thinwire::mpi
