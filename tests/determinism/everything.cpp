// A bit of everything that could make two runs differ: files, heap, output, thread-locals, containers, exceptions.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex m;
static std::map<std::string, std::vector<int>> table;
static std::unordered_map<const void *, int> by_address;
static thread_local int calls = 100;
static int total;

static void remember(const char *who, int value) {
    calls++;
    auto *copy = static_cast<char *>(std::malloc(std::strlen(who) + 16));
    std::snprintf(copy, std::strlen(who) + 16, "%s-%d", who, value);
    {
        std::lock_guard<std::mutex> guard(m);
        table[copy].push_back(calls);
        by_address[copy] = value;
        std::printf("%s remembers %d, call %d\n", who, value, calls);
    }
    if (value % 2)
        std::free(copy);
}

static void write_and_read(const char *name, int seed) {
    std::string file = std::string("determinism-") + name + ".txt";
    {
        std::ofstream out(file, std::ios::app);
        for (int i = 0; i < 3; i++)
            out << seed + i << '\n';
    }
    std::FILE *in = std::fopen(file.c_str(), "r");
    int value = 0, sum = 0;
    while (in && std::fscanf(in, "%d", &value) == 1)
        sum += value;
    if (in)
        std::fclose(in);
    std::lock_guard<std::mutex> guard(m);
    total += sum;
    std::remove(file.c_str());
}

static void worker(const char *name, int seed) {
    for (int i = 0; i < 3; i++)
        remember(name, seed + i);
    try {
        if (seed > 5)
            throw std::runtime_error(name);
        write_and_read(name, seed);
    } catch (const std::exception &e) {
        remember(e.what(), seed * 10);
        write_and_read(name, seed);
    }
}

int main() {
    std::vector<std::thread> threads;
    const char *names[] = {"ann", "bob", "cyd"};
    for (int i = 0; i < 3; i++)
        threads.emplace_back(worker, names[i], i * 4);
    for (auto &thread : threads)
        thread.join();
    std::printf("total %d of %zu entries, %d calls\n", total, table.size(), calls);
    return 0;
}
