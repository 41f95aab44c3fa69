// Downloads the two halves of a file at the same time, in two threads that share what libcurl knows of names and connections.
// With -DUNLOCKED the share has no lock.
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t locks[CURL_LOCK_DATA_LAST];
static CURLSH *share;
static char file[9];

struct part {
    char *to;
    const char *range;
};

#ifndef UNLOCKED
static void lock(CURL *handle, curl_lock_data data, curl_lock_access access, void *arg) {
    (void)handle, (void)access, (void)arg;
    pthread_mutex_lock(&locks[data]);
}

static void unlock(CURL *handle, curl_lock_data data, void *arg) {
    (void)handle, (void)arg;
    pthread_mutex_unlock(&locks[data]);
}
#endif

static size_t store(char *data, size_t size, size_t count, void *arg) {
    struct part *part = arg;
    memcpy(part->to, data, size * count);
    part->to += size * count;
    return size * count;
}

static void *fetch(void *arg) {
    struct part *part = arg;
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, "http://127.0.0.1:8080/file");
    curl_easy_setopt(handle, CURLOPT_RANGE, part->range);
    curl_easy_setopt(handle, CURLOPT_SHARE, share);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, store);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, part);
    CURLcode result = curl_easy_perform(handle);
    if (result != CURLE_OK)
        fprintf(stderr, "%s\n", curl_easy_strerror(result));
    curl_easy_cleanup(handle);
    return NULL;
}

int main(void) {
    curl_global_init(CURL_GLOBAL_NOTHING);
    for (int i = 0; i < CURL_LOCK_DATA_LAST; i++)
        pthread_mutex_init(&locks[i], NULL);
    share = curl_share_init();
#ifndef UNLOCKED
    curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
#endif
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    struct part parts[2] = {{file, "0-3"}, {file + 4, "4-7"}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fetch, &parts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts(file);
    curl_share_cleanup(share);
    curl_global_cleanup();
    return strcmp(file, "racefree") != 0;
}
