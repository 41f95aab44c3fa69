// The counts of a shared pointer are atomic, the pointer itself is not: one thread replaces what another copies.
#include <memory>
#include <mutex>
#include <thread>

struct Table {
    int version;
};

static std::shared_ptr<Table> current = std::make_shared<Table>(Table{1});
static std::mutex mutex;

static int version() {
#ifdef RIGHT
    std::unique_lock guard(mutex);
    std::shared_ptr<Table> table = current;
    guard.unlock();
#else
    std::shared_ptr<Table> table = current; // RACE!
#endif
    return table->version; // RACE!
} // RACE! MISUSE

static void reload() {
    auto table = std::make_shared<Table>(Table{2}); // RACE!
#ifdef RIGHT
    std::lock_guard guard(mutex);
#endif
    current = table; // RACE! MISUSE
} // RACE! MISUSE

int main() {
    std::thread thread(reload);
    int seen = version();
    thread.join();
    return seen > 2;
}
