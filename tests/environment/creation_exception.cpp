// --environment creation: the constructor of `std::thread` throws, and the handler touches what another thread uses.
#include <system_error>
#include <thread>

static int data;

int main() {
    std::thread first;
    try {
        first = std::thread([] { data = 1; }); // RACE!
        std::thread second([] {});
        second.join();
    } catch (const std::system_error &) {
#ifdef RIGHT
        if (first.joinable())
            first.join();
#endif
        data = 2; // RACE!
    }
    if (first.joinable())
        first.join();
}
