// Two of twenty functions are missing; everything that does not depend on them is still answered.
#include <pthread.h>

long read_sensor(int channel);
void send_alarm(long value);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long samples[2], alarms, rounds, highest;

static long clamp(long v) { return v < 0 ? 0 : v; }
static long scale(long v) { return v * 9 / 5; }
static long shift(long v) { return v + 32; }
static long convert(long v) { return shift(scale(clamp(v))); }

static void store(int channel, long v) {
    pthread_mutex_lock(&lock);
    samples[channel] = v; // NORACE
    pthread_mutex_unlock(&lock);
}

static long load(int channel) {
    pthread_mutex_lock(&lock);
    long v = samples[channel]; // NORACE
    pthread_mutex_unlock(&lock);
    return v;
}

static void count_round(void) {
    pthread_mutex_lock(&lock);
    rounds++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void count_alarm(void) {
    pthread_mutex_lock(&lock);
    alarms++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void remember(long v) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    if (v > highest) // RACE!
        highest = v; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static int too_hot(long v) { return v > 100; }
static void alarm_if(long v) {
    if (too_hot(v)) {
        count_alarm();
        send_alarm(v);
    }
}

static void sample(int channel) {
    long v = convert(read_sensor(channel));
    store(channel, v);
    remember(v);
    alarm_if(v);
    count_round();
}

static void *first(void *arg) {
    sample(0);
    return arg;
}

static void *second(void *arg) {
    sample(1);
    return arg;
}

static long report(void) { return load(0) + load(1); }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return report() != alarms + rounds; // NORACE
}

#ifdef MODEL
long read_sensor(int channel) {
    return 20 + channel;
}
void send_alarm(long value) {
    (void)value;
}
#endif
