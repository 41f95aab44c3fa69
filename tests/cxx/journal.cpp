// A journal with a thread of its own that writes: callers fill one buffer while the other is written, and may wait until
// everything is. The racy twin asks whether there is something to write without the lock.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace journal {

enum class Level { Debug, Info, Error };

struct Record {
    Level level;
    uint64_t number;
    std::string text;
};

/// Where records go: here, a text in memory.
class Sink {
public:
    void write(const Record &record) {
        text_ += name(record.level);
        text_ += ' ';
        text_ += record.text;
        text_ += '\n';
    }
    const std::string &text() const { return text_; }

private:
    static const char *name(Level level) {
        switch (level) {
        case Level::Debug:
            return "debug";
        case Level::Info:
            return "info";
        case Level::Error:
            return "error";
        }
        return "";
    }
    std::string text_;
};

class Journal {
public:
    explicit Journal(Level least) : least_(least), writer_([this] { run(); }) {}

    ~Journal() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closed_ = true;
        }
        changed_.notify_one();
        writer_.join();
    }

    void log(Level level, std::string_view text) {
        if (level < least_)
            return;
        std::lock_guard<std::mutex> guard(mutex_);
        filling_.push_back(Record{level, ++logged_, std::string(text)}); // RACE!
        changed_.notify_one();
    }

    /// Waits until all that was logged before is written.
    void flush() {
        std::unique_lock<std::mutex> guard(mutex_);
        const uint64_t wanted = logged_;
        written_more_.wait(guard, [this, wanted] { return written_ >= wanted; });
    }

    bool is_idle() {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        return filling_.empty(); // RACE!
    }

    const Sink &sink() const { return sink_; }

private:
    void run() {
        std::vector<Record> writing;
        std::unique_lock<std::mutex> guard(mutex_);
        for (;;) {
            changed_.wait(guard, [this] { return closed_ || !filling_.empty(); });
            if (filling_.empty())
                return;
            std::swap(writing, filling_); // RACE!
            guard.unlock();
            for (const Record &record : writing)
                sink_.write(record);
            const uint64_t last = writing.back().number;
            writing.clear();
            guard.lock();
            written_ = last;
            written_more_.notify_all();
        }
    }

    const Level least_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable written_more_;
    std::vector<Record> filling_;
    uint64_t logged_ = 0;
    uint64_t written_ = 0;
    bool closed_ = false;
    Sink sink_;
    std::thread writer_;
};

} // namespace journal

int main() {
    journal::Journal journal(journal::Level::Info);
    journal.log(journal::Level::Debug, "not this");
    journal.log(journal::Level::Info, "something that is too long for a short string");
    bool idle = journal.is_idle();
    journal.flush();
    return idle || journal.sink().text().starts_with("info") ? 0 : 1;
}
