// A store with a log that is written ahead: writers append their records to a batch, and one of them commits the batch for all.
// The racy twin clears the batch after the lock was given back.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace store {

enum class Operation : std::uint8_t { Put, Erase };

struct Record {
    std::uint64_t number;
    Operation operation;
    std::string key, value;
};

/// Text form of records: length, content, check sum.
class Codec {
public:
    static std::string encode(const Record &record) {
        std::string body;
        body += static_cast<char>('0' + static_cast<int>(record.operation));
        append(body, record.key);
        append(body, record.value);
        std::string all = std::to_string(record.number) + ":";
        append(all, body);
        return all + std::to_string(sum(body)) + "\n";
    }

    static bool decode(const std::string &line, Record &record) {
        size_t at = 0;
        std::string number = until(line, at, ':');
        std::string body = take(line, at);
        if (number.empty() || body.empty() || std::to_string(sum(body)) != line.substr(at))
            return false;
        record.number = std::stoull(number);
        record.operation = static_cast<Operation>(body[0] - '0');
        size_t inner = 1;
        record.key = take(body, inner);
        record.value = take(body, inner);
        return true;
    }

private:
    static void append(std::string &to, const std::string &part) { to += std::to_string(part.size()) + ":" + part; }

    static std::string until(const std::string &text, size_t &at, char end) {
        size_t found = text.find(end, at);
        if (found == std::string::npos)
            return {};
        std::string part = text.substr(at, found - at);
        at = found + 1;
        return part;
    }

    static std::string take(const std::string &text, size_t &at) {
        std::string length = until(text, at, ':');
        if (length.empty())
            return {};
        std::string part = text.substr(at, std::stoul(length));
        at += part.size();
        return part;
    }

    static unsigned sum(const std::string &text) {
        unsigned sum = 1;
        for (char c : text)
            sum = sum * 31 + static_cast<unsigned char>(c);
        return sum;
    }
};

/// What a file would be.
class Medium {
public:
    void write(const std::string &text) { content_ += text; } // RACE!
    void flush() { flushed_ = content_.size(); }

    std::vector<Record> records() const {
        std::vector<Record> found;
        std::istringstream lines(content_.substr(0, flushed_));
        Record record;
        for (std::string line; std::getline(lines, line);)
            if (Codec::decode(line, record))
                found.push_back(record);
        return found;
    }

private:
    std::string content_;
    size_t flushed_ = 0;
};

class Log {
public:
    explicit Log(Medium &medium) : medium_(medium) {}

    /// Returns when the record is on the medium. Writers that come while a batch is written wait for the next one.
    std::uint64_t append(Operation operation, const std::string &key, const std::string &value) {
        std::unique_lock<std::mutex> guard(mutex_);
        std::uint64_t number = ++last_;
        batch_.push_back(Codec::encode(Record{number, operation, key, value})); // RACE!
        while (committed_ < number) {
            if (committing_) {
                done_.wait(guard);
                continue;
            }
            committing_ = true;
#ifdef RACY
            std::uint64_t up_to = last_;
            guard.unlock();
            for (const std::string &line : batch_) // RACE!
                medium_.write(line);               // RACE!
            medium_.flush();
            batch_.clear(); // RACE!
#else
            std::uint64_t up_to = last_;
            std::vector<std::string> mine;
            mine.swap(batch_);
            guard.unlock();
            for (const std::string &line : mine)
                medium_.write(line);
            medium_.flush();
#endif
            guard.lock();
            committed_ = up_to;
            committing_ = false;
            commits_++;
            done_.notify_all();
        }
        return number;
    }

    unsigned commits() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return commits_;
    }

private:
    Medium &medium_;
    mutable std::mutex mutex_;
    std::condition_variable done_;
    std::vector<std::string> batch_;
    std::uint64_t last_ = 0, committed_ = 0;
    bool committing_ = false;
    unsigned commits_ = 0;
};

/// The state that records lead to.
std::map<std::string, std::string> replay(const std::vector<Record> &records) {
    std::map<std::string, std::string> state;
    for (const Record &record : records) {
        if (record.operation == Operation::Put)
            state[record.key] = record.value;
        else
            state.erase(record.key);
    }
    return state;
}

} // namespace store

int main() {
    store::Medium medium;
    store::Log log(medium);
    log.append(store::Operation::Put, "x", "an old value");
    std::thread other([&] { log.append(store::Operation::Put, "y", "1"); });
    log.append(store::Operation::Erase, "x", "");
    other.join();
    auto state = store::replay(medium.records());
    return state.size() == 1 && state["y"] == "1" && log.commits() >= 2 && log.commits() <= 3 ? 0 : 1;
}
