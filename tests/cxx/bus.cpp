// A bus for events: subscribers are functions, kept by topic; a subscription ends with its handle. Handlers are called without
// the lock, from a copy, so that they may subscribe themselves. The racy twin calls them from the list itself.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace events {

struct Event {
    std::string topic;
    int value;
};

using Handler = std::function<void(const Event &)>;

class Bus {
    struct Subscriber {
        int id;
        Handler handler;
    };

public:
    /// Ends a subscription when it ends.
    class Subscription {
    public:
        Subscription(Bus *bus, std::string topic, int id) : bus_(bus), topic_(std::move(topic)), id_(id) {}
        Subscription(Subscription &&other) noexcept
            : bus_(std::exchange(other.bus_, nullptr)), topic_(std::move(other.topic_)), id_(other.id_) {}
        Subscription &operator=(Subscription &&) = delete;
        ~Subscription() {
            if (bus_)
                bus_->unsubscribe(topic_, id_);
        }

    private:
        Bus *bus_;
        std::string topic_;
        int id_;
    };

    Subscription subscribe(const std::string &topic, Handler handler) {
        std::lock_guard<std::mutex> guard(mutex_);
        const int id = next_++;
        topics_[topic].push_back(Subscriber{id, std::move(handler)}); // RACE!
        return Subscription(this, topic, id);
    }

    size_t publish(const Event &event) {
#ifdef RACY
        const std::vector<Subscriber> *called;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            called = &topics_[event.topic];
        }
        for (const Subscriber &subscriber : *called) // RACE!
            subscriber.handler(event);               // RACE!
        return called->size();                       // RACE!
#else
        std::vector<Handler> called;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            for (const Subscriber &subscriber : topics_[event.topic])
                called.push_back(subscriber.handler);
        }
        for (const Handler &handler : called)
            handler(event);
        return called.size();
#endif
    }

private:
    void unsubscribe(const std::string &topic, int id) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto &subscribers = topics_[topic];
        std::erase_if(subscribers, [id](const Subscriber &subscriber) { return subscriber.id == id; }); // RACE!
    }

    std::mutex mutex_;
    std::map<std::string, std::vector<Subscriber>> topics_;
    int next_ = 1;
};

} // namespace events

static events::Bus bus;

int main() {
    int heard = 0;
    std::thread publisher([] { bus.publish({"weather", 3}); });
    {
        std::mutex mutex;
        auto subscription = bus.subscribe("traffic", [&](const events::Event &event) {
            std::lock_guard<std::mutex> guard(mutex);
            heard += event.value;
        });
        auto other = bus.subscribe("weather", [](const events::Event &event) { (void)event; });
        publisher.join();
        bus.publish({"traffic", 4});
    }
    return heard == 4 ? 0 : 1;
}
