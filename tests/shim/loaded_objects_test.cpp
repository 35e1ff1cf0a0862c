#include "shim/mpi/native/loaded_objects.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace thinwire::mpi {
namespace {

std::string rights_of(const void* at) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &end, rights) != 3) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (address >= first && address < end) return std::string(rights, 3);
  }
  return "";
}

TEST(LoadedObjects, PagesAreWritableForAWhile) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const at = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  for (const int before : {PROT_READ, PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE}) {
    ASSERT_EQ(mprotect(at, page, before), 0);
    const std::string rights = rights_of(at);
    {
      const Writable word(static_cast<char*>(at) + 8, 8);
      ASSERT_TRUE(word.is_writable());
      static_cast<char*>(at)[8] = 1;
      EXPECT_EQ(rights_of(at)[2], rights[2]);
    }
    EXPECT_EQ(rights_of(at), rights);
  }
  munmap(at, page);
  EXPECT_FALSE(Writable(at, 8).is_writable());
}

TEST(LoadedObjects, SymbolsAreCounted) {
  void* const call = dlsym(RTLD_DEFAULT, "getpid");
  bool is_found = false;
  for (const LoadedObject& object : loaded_objects()) {
    if (!object.contains(call)) continue;
    const std::size_t count = object.symbol_count();
    for (std::size_t at = 0; at < count; ++at)
      is_found |= std::strcmp(object.names + object.symbols[at].st_name, "getpid") == 0;
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace thinwire::mpi
