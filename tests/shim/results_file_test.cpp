// Tests of a path at which something lies before a preload library writes there: a file of the
// user's own is taken; links, files and pipes that anybody may have put there are not followed,
// written to or waited for.
#include "shim/common/results_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace thinwire::shim {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class ResultsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "thinwire-results-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    put(victim(), "another's");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A folder as /tmp is, in which somebody else has been.
  std::string shared(mode_t mode = 01777) {
    const fs::path made = folder_ / "shared";
    fs::create_directory(made);
    EXPECT_EQ(chmod(made.c_str(), mode), 0);
    return made / "report";
  }
  std::string own() const { return folder_ / "report"; }
  std::string victim() const { return folder_ / "victim"; }

  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static int write(const std::string& path) { return write_results(path, "told", 4); }
  static void give_to_nobody(const std::string& path) {
    ASSERT_EQ(lchown(path.c_str(), kNobody, kNobody), 0);
  }
  static bool is_root() { return geteuid() == 0; }

 private:
  fs::path folder_;
};

TEST_F(ResultsFile, OfTheLastRunIsWrittenOver) {
  for (const std::string& path : {own(), shared()}) {
    put(path, "of a run before, and longer");
    EXPECT_EQ(write(path), 0);
    EXPECT_EQ(text(path), "told");
  }
}

TEST_F(ResultsFile, KeepsWhatIsThereIfAsked) {
  put(own(), "one ");
  const int file = open_results(own(), Keeps::kWhatIsThere);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(write_results(file, "two", 3));
  close(file);
  EXPECT_EQ(text(own()), "one two");
}

TEST_F(ResultsFile, FollowsLinksInFoldersOfTheUsersAlone) {
  fs::create_symlink(victim(), own());
  EXPECT_EQ(write(own()), 0);
  EXPECT_EQ(text(victim()), "told");
  EXPECT_TRUE(fs::is_symlink(own()));
}

TEST_F(ResultsFile, MakesWhatALinkOfTheUsersLeadsTo) {
  fs::create_symlink("new", own());
  EXPECT_EQ(write(own()), 0);
  EXPECT_EQ(text(own()), "told");
}

TEST_F(ResultsFile, FollowsNoLinkOfAnothers) {
  if (!is_root()) GTEST_SKIP() << "needs root, to plant as another";
  for (const std::string& to : {victim(), victim() + "-new"}) {
    const std::string path = shared();
    fs::create_symlink(to, path);
    give_to_nobody(path);
    EXPECT_NE(write(path), 0);
    EXPECT_EQ(text(victim()), "another's");
    EXPECT_FALSE(fs::exists(victim() + "-new"));
    EXPECT_TRUE(fs::is_symlink(path));
    fs::remove(path);
  }
}

TEST_F(ResultsFile, FollowsNoLinkWhereOthersCanRenameOne) {
  const std::string path = shared(0777);
  fs::create_symlink(victim(), path);
  EXPECT_NE(write(path), 0);
  EXPECT_EQ(text(victim()), "another's");
}

TEST_F(ResultsFile, ASecondNameOfAFileGivesWay) {
  const std::string path = shared();
  fs::create_hard_link(victim(), path);
  EXPECT_EQ(write(path), 0);
  EXPECT_EQ(text(path), "told");
  EXPECT_EQ(text(victim()), "another's");
}

TEST_F(ResultsFile, AFileOfAnothersGivesWay) {
  if (!is_root()) GTEST_SKIP() << "needs root, to plant as another";
  const std::string path = shared();
  put(path, "planted");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  give_to_nobody(path);
  const std::string second = path + "-second";
  fs::create_hard_link(path, second);
  EXPECT_EQ(write(path), 0);
  EXPECT_EQ(text(path), "told");
  EXPECT_EQ(text(second), "planted");
  // To what is there nothing is added either.
  EXPECT_EQ(open_results(second, Keeps::kWhatIsThere), -1);
}

TEST_F(ResultsFile, WhoMayNotRemoveAFileOfAnothersIsRefused) {
  if (!is_root()) GTEST_SKIP() << "needs root, to become another";
  const std::string path = shared();
  put(path, "another's");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(chown(path.c_str(), kNobody - 1, kNobody - 1), 0);
  ASSERT_EQ(chmod(fs::path(path).parent_path().parent_path().c_str(), 0755), 0);
  ASSERT_EQ(seteuid(kNobody), 0);
  const int error = write(path);
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_NE(error, 0);
  EXPECT_NE(why_refused(error).find("another user's"), std::string::npos);
  EXPECT_EQ(text(path), "another's");
}

TEST_F(ResultsFile, WaitsForNoReaderOfAPipe) {
  for (const std::string& path : {own(), shared()}) {
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(write(path), ENXIO);
    EXPECT_TRUE(fs::is_fifo(path));
  }
}

TEST_F(ResultsFile, WritesToAPipeWhoseReaderWaits) {
  ASSERT_EQ(mkfifo(own().c_str(), 0600), 0);
  const int reader = open(own().c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(write(own()), 0);
  char got[8];
  EXPECT_EQ(read(reader, got, sizeof got), 4);
  close(reader);
}

TEST_F(ResultsFile, AReaderThatDoesNotReadOrHasGoneIsGivenUp) {
  ASSERT_EQ(mkfifo(own().c_str(), 0600), 0);
  const int reader = open(own().c_str(), O_RDONLY | O_NONBLOCK);
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(write_results(own(), much.data(), much.size()), EAGAIN);
  const int file = open_results(own());
  ASSERT_GE(file, 0);
  close(reader);
  EXPECT_FALSE(write_results(file, much.data(), much.size()));  // SIGPIPE would end the test
  EXPECT_EQ(errno, EPIPE);
  close(file);
  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_F(ResultsFile, RefusesPipesOfAnothers) {
  if (!is_root()) GTEST_SKIP() << "needs root, to plant as another";
  const std::string path = shared();
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  give_to_nobody(path);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_NE(write(path), 0);
  char got[8];
  EXPECT_LE(read(reader, got, sizeof got), 0);
  close(reader);
}

TEST_F(ResultsFile, RefusesFolders) {
  for (const std::string& path : {own(), shared()}) {
    fs::create_directory(path);
    EXPECT_EQ(write(path), EISDIR);
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_EQ(write(own() + "/none/report"), ENOENT);
}

TEST_F(ResultsFile, DevicesOfCharactersAreWrittenToAndStay) {
  if (!is_root() || mknod(own().c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "may make no devices here";
  }
  const int error = write(own());
  if (error == EACCES || error == EPERM) GTEST_SKIP() << "devices are not opened here";
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(fs::is_character_file(own()));
  EXPECT_FALSE(is_replaceable(own()));
}

TEST_F(ResultsFile, OfWhatIsTooLongNothingStays) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{2, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const int error = write(own());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(error, EFBIG);
  EXPECT_FALSE(fs::exists(own()));
}

}  // namespace
}  // namespace thinwire::shim
