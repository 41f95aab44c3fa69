// A list of events, each with a handler.
#include <functional>
#include <list>
#include <mutex>
#include <thread>

class Events {
public:
    void on(std::function<void(int)> handler) {
#ifndef RACY
        std::lock_guard<std::recursive_mutex> guard(mutex_);
#endif
        handlers_.push_back(std::move(handler)); // RACE!
    }
    void fire(int event) {
        std::lock_guard<std::recursive_mutex> guard(mutex_);
        for (auto &handler : handlers_) // RACE!
            handler(event); // RACE!
    }

private:
    std::recursive_mutex mutex_;
    std::list<std::function<void(int)>> handlers_;
};

static Events events;
static int seen;

int main() {
    std::thread other([] { events.on([](int event) { seen += event; }); });
    events.fire(1);
    other.join();
    return seen <= 1 ? 0 : 1;
}
