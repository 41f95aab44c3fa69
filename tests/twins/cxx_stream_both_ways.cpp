// One thread writes to a string stream and another reads from it: both ways lead to one object.
#include <mutex>
#include <sstream>
#include <thread>

int main() {
    std::stringstream both("7 ");
    std::mutex mutex;
    int n = 0;
    std::thread writer([&] {
        std::lock_guard<std::mutex> guard(mutex);
        both << 12; // RACE!
    });
#ifdef RACY
    both >> n; // RACE!
#else
    {
        std::lock_guard<std::mutex> guard(mutex);
        both >> n;
    }
#endif
    writer.join();
    return n > 99;
}
