// A callback of a stop token runs in the thread that requests the stop, or in the one that registers it.
// Shows: threads: callbacks of C++20 stop tokens
#include <stop_token>
#include <thread>

int calls;

int main() {
    std::jthread thread([](std::stop_token token) {
        std::stop_callback callback(token, [] { calls++; }); // RACE!
#ifdef RACY
        calls++; // RACE!
#endif
    });
    thread.request_stop();
    thread.join();
    return calls;
}
