// A container is many objects: adding to a vector while reading it races inside the library's code.
#include <mutex>
#include <thread>
#include <vector>

static std::vector<int> items;
static std::mutex m;

int main() {
    items.push_back(1);
    std::thread worker([] {
        std::lock_guard<std::mutex> guard(m);
        int &first = items[0];
        first = 2; // RACE!
    });
    {
#ifndef RACY
        std::lock_guard<std::mutex> guard(m);
#endif
        int &first = items[0];
        first++; // RACE!
    }
    worker.join();
    return items.size() != 1;
}
