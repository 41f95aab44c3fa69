// A file scanner: main puts files into a queue, two threads take them out, search them and report what they find. What a
// place of the queue holds is written before the place is handed out under the queue's lock. Four locks: the queue, the
// report, the counters, and how many scanners are still at work. With -DBUG the last one is read without its lock.
#include <pthread.h>
#include <string.h>

#define FILES 2

static const char *texts[FILES] = {"all the world is a stage", "to be or not to be"};
static struct { const char *text; int length; } queue[FILES];
static int filled, taken;
static int lines, matches, bytes_seen, at_work = 2;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, report_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER, work_lock = PTHREAD_MUTEX_INITIALIZER;

// The next place of the queue, or -1 if nothing waits.
static int take(void) {
    pthread_mutex_lock(&queue_lock);
    int place = taken < filled ? taken++ : -1;
    pthread_mutex_unlock(&queue_lock);
    return place;
}

static void *scan(void *arg) {
    int place = take();
    if (place >= 0) {
        int found = 0;
        for (const char *at = queue[place].text; (at = strstr(at, "be")); at++)
            found++;
        pthread_mutex_lock(&count_lock);
        bytes_seen += queue[place].length;
        matches += found;
        pthread_mutex_unlock(&count_lock);
        pthread_mutex_lock(&report_lock);
        lines++;
        pthread_mutex_unlock(&report_lock);
    }
    pthread_mutex_lock(&work_lock);
    at_work--;
    pthread_mutex_unlock(&work_lock);
    return arg;
}

int main(void) {
    pthread_t scanners[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&scanners[i], 0, scan, 0);
    for (int i = 0; i < FILES; i++) {
        queue[i].text = texts[i];
        queue[i].length = (int)strlen(texts[i]);
        pthread_mutex_lock(&queue_lock);
        filled++;
        pthread_mutex_unlock(&queue_lock);
    }
#ifdef BUG
    int idle = at_work == 0;
#else
    pthread_mutex_lock(&work_lock);
    int idle = at_work == 0;
    pthread_mutex_unlock(&work_lock);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(scanners[i], 0);
    return matches <= 2 && lines <= FILES && idle <= 1 ? 0 : 1;
}
