// A thread works until it is asked to stop. C++20.
#include <stop_token>
#include <thread>

static int progress;

int main() {
    {
        std::jthread worker([](std::stop_token stop) {
            while (!stop.stop_requested())
                std::this_thread::yield();
            progress++; // RACE!
        });
#ifdef RACY
        worker.request_stop();
        progress++; // RACE!
#endif
    }
    progress++;
    return progress <= 3 ? 0 : 1;
}
