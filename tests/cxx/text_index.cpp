// An index of words: each thread indexes its documents in a part of its own, and the parts are joined under a lock. The racy twin
// ranks the words of the common index while another part is still being joined.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace search {

using DocumentId = unsigned;

struct Document {
    DocumentId id;
    std::string title, body;
};

struct Position {
    DocumentId document;
    unsigned word;

    bool operator<(const Position &other) const {
        return document != other.document ? document < other.document : word < other.word;
    }
};

/// Words in lower case, without those that say nothing.
class Splitter {
public:
    explicit Splitter(std::set<std::string> ignored) : ignored_(std::move(ignored)) {}

    template <class Visit> void split(const std::string &text, Visit visit) const {
        std::string word;
        unsigned number = 0;
        auto finish = [&] {
            if (!word.empty()) {
                if (ignored_.count(word) == 0)
                    visit(word, number);
                number++;
                word.clear();
            }
        };
        for (unsigned char c : text) {
            if (std::isalpha(c))
                word += static_cast<char>(std::tolower(c));
            else
                finish();
        }
        finish();
    }

private:
    std::set<std::string> ignored_;
};

/// The places of words, for some documents.
class Part {
public:
    void add(const Document &document, const Splitter &splitter) {
        auto visit = [&](const std::string &word, unsigned number) {
            places_[word].push_back(Position{document.id, number});
        };
        splitter.split(document.title + " " + document.body, visit);
        documents_++;
    }

    const std::unordered_map<std::string, std::vector<Position>> &places() const { return places_; }
    unsigned documents() const { return documents_; }

private:
    std::unordered_map<std::string, std::vector<Position>> places_;
    unsigned documents_ = 0;
};

class Index {
public:
    void join(const Part &part) {
        std::lock_guard<std::mutex> guard(mutex_);
        for (const auto &[word, positions] : part.places()) {
            auto &all = places_[word]; // RACE!
            all.insert(all.end(), positions.begin(), positions.end()); // RACE!
            std::sort(all.begin(), all.end()); // RACE!
        }
        documents_ += part.documents();
    }

    /// Documents that have all of the words, in order.
    std::vector<DocumentId> find(const std::vector<std::string> &words) const {
        std::lock_guard<std::mutex> guard(mutex_);
        std::map<DocumentId, std::set<std::string>> matches;
        for (const std::string &word : words) {
            auto found = places_.find(word);
            if (found != places_.end())
                for (const Position &position : found->second)
                    matches[position.document].insert(word);
        }
        std::vector<DocumentId> result;
        for (const auto &[document, matched] : matches)
            if (matched.size() == words.size())
                result.push_back(document);
        return result;
    }

    /// The words with most places, the most frequent first.
    std::vector<std::string> frequent(size_t most) const {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        std::vector<std::pair<size_t, std::string>> ranked;
        for (const auto &[word, positions] : places_)    // RACE!
            ranked.emplace_back(positions.size(), word); // RACE!
        std::sort(ranked.begin(), ranked.end(), [](const auto &one, const auto &other) {
            return one.first != other.first ? one.first > other.first : one.second < other.second;
        });
        std::vector<std::string> words;
        for (size_t i = 0; i < ranked.size() && i < most; i++)
            words.push_back(ranked[i].second);
        return words;
    }

    unsigned documents() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return documents_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<Position>> places_;
    unsigned documents_ = 0;
};

} // namespace search

int main() {
    const search::Splitter splitter({"the", "a"});
    search::Index index;
    const std::vector<search::Document> documents = {
        {1, "The cat", "a cat sat"},
        {2, "A dog", "the dog sat"},
    };
    auto work = [&](size_t number) {
        search::Part part;
        part.add(documents[number], splitter);
        index.join(part);
    };
    std::thread other(work, 1);
    work(0);
    std::vector<std::string> early = index.frequent(1);
    other.join();
    bool ranked = !early.empty() && (early[0] == "cat" || early[0] == "dog");
    bool found = index.find({"sat"}).size() == 2 && index.find({"dog", "sat"}) == std::vector<search::DocumentId>{2};
    return ranked && found && index.documents() == 2 ? 0 : 1;
}
