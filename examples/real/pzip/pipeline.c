#include "pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "channel.h"
#include "fatal.h"

/* A file is this, four bytes with the block size, blocks, and the header of an empty block. */
static const unsigned char magic[4] = {'P', 'Z', '1', '\n'};
#define FILE_HEADER 8
#define LARGEST_BLOCK (1u << 24)

struct pipeline {
    const struct pipeline_options *options;
    int from, to;
    size_t block_size;
    struct channel unused; /* writer to reader */
    struct channel filled; /* reader to workers */
    struct shelf done;     /* workers to writer */
    struct pipeline_totals totals; /* the writer's, until it has ended */
};

/* Reads as much as there is, up to `length`. */
static size_t read_up_to(int from, unsigned char *to, size_t length) {
    size_t got = 0;
    while (got < length) {
        ssize_t now = read(from, to + got, length - got);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            fatal_errno("read");
        if (now == 0)
            break;
        got += (size_t)now;
    }
    return got;
}

static void write_all(int to, const unsigned char *from, size_t length) {
    while (to >= 0 && length > 0) {
        ssize_t now = write(to, from, length);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            fatal_errno("write");
        from += now;
        length -= (size_t)now;
    }
}

static void write_block(struct pipeline *pipeline, const struct block *block) {
    if (pipeline->options->unpack) {
        write_all(pipeline->to, block->raw, block->header.raw_length);
    } else {
        unsigned char header[BLOCK_HEADER];
        block_encode_header(&block->header, header);
        write_all(pipeline->to, header, sizeof header);
        write_all(pipeline->to, block->packed, block->header.packed_length);
    }
}

/* Fills a block from the input; false at the end. */
static bool read_block(struct pipeline *pipeline, struct block *block) {
    if (!pipeline->options->unpack) {
        block->header.raw_length = (uint32_t)read_up_to(pipeline->from, block->raw, block->size);
        return block->header.raw_length > 0;
    }
    unsigned char header[BLOCK_HEADER];
    if (read_up_to(pipeline->from, header, sizeof header) != sizeof header)
        fatal("the file is cut off");
    if (!block_decode_header(&block->header, header, block->size))
        fatal("the file is damaged: block %zu has no valid header", block->sequence);
    if (block->header.raw_length == 0)
        return false;
    if (read_up_to(pipeline->from, block->packed, block->header.packed_length) != block->header.packed_length)
        fatal("the file is cut off");
    return true;
}

/* The reader: the calling thread. */
static void read_blocks(struct pipeline *pipeline) {
    size_t sequence = 0;
    for (;;) {
        struct block *block = channel_take(&pipeline->unused);
        block->sequence = sequence;
        if (!read_block(pipeline, block)) {
            channel_put(&pipeline->unused, block);
            break;
        }
        sequence++;
        channel_put(&pipeline->filled, block);
    }
    channel_close(&pipeline->filled);
    shelf_end(&pipeline->done, sequence);
}

static void *work(void *argument) {
    struct pipeline *pipeline = argument;
    const struct pipeline_options *options = pipeline->options;
    struct block *block;
    while ((block = channel_take(&pipeline->filled)) != NULL) {
        if (options->unpack) {
            if (!block_unpack(block))
                fatal("the file is damaged: block %zu", block->sequence);
        } else {
            block_pack(block, options->level);
            if (options->self_check && !block_self_check(block))
                fatal("block %zu does not unpack to what it was", block->sequence);
        }
#if BUG == 2
        /* The twin's mistake: all workers add up in one place. */
        pipeline->totals.packed += block->header.packed_length;
#endif
        shelf_put(&pipeline->done, block);
    }
    return NULL;
}

/* The writer: takes blocks in order and gives them back. */
static void *write_blocks(void *argument) {
    struct pipeline *pipeline = argument;
    struct block *block;
    while ((block = shelf_take(&pipeline->done)) != NULL) {
#if BUG == 1
        /* The twin's mistake: the block is given back while its bytes are still needed. */
        channel_put(&pipeline->unused, block);
#endif
        write_block(pipeline, block);
        pipeline->totals.blocks++;
        pipeline->totals.raw += block->header.raw_length;
#if BUG != 2
        pipeline->totals.packed += block->header.packed_length;
#endif
#if BUG != 1
        channel_put(&pipeline->unused, block);
#endif
    }
    return NULL;
}

static void start_file(struct pipeline *pipeline) {
    unsigned char header[FILE_HEADER];
    size_t size = pipeline->options->block_size;
    if (pipeline->options->unpack) {
        if (read_up_to(pipeline->from, header, sizeof header) != sizeof header ||
            memcmp(header, magic, sizeof magic) != 0)
            fatal("this is no file of pzip");
        size = header[4] | (size_t)header[5] << 8 | (size_t)header[6] << 16 | (size_t)header[7] << 24;
        if (size == 0 || size > LARGEST_BLOCK)
            fatal("the file is damaged: blocks of %zu bytes", size);
    } else {
        memcpy(header, magic, sizeof magic);
        for (int i = 0; i < 4; i++)
            header[4 + i] = (unsigned char)(size >> 8 * i);
        write_all(pipeline->to, header, sizeof header);
    }
    pipeline->block_size = size;
}

static void end_file(struct pipeline *pipeline) {
    unsigned char header[BLOCK_HEADER];
    const struct block_header last = {.method = METHOD_STORED};
    if (pipeline->options->unpack)
        return;
    block_encode_header(&last, header);
    write_all(pipeline->to, header, sizeof header);
}

struct pipeline_totals pipeline_run(int from, int to, const struct pipeline_options *options) {
    struct pipeline pipeline = {.options = options, .from = from, .to = to};
    pthread_t writer;
    pthread_t *workers = allocate(options->workers, sizeof *workers);
    start_file(&pipeline);
    channel_init(&pipeline.unused, options->blocks);
    channel_init(&pipeline.filled, options->blocks);
    shelf_init(&pipeline.done, options->blocks);
    for (size_t i = 0; i < options->blocks; i++)
        channel_put(&pipeline.unused, block_new(pipeline.block_size));

    must(pthread_create(&writer, NULL, write_blocks, &pipeline), "pthread_create");
    for (unsigned i = 0; i < options->workers; i++)
        must(pthread_create(&workers[i], NULL, work, &pipeline), "pthread_create");
    read_blocks(&pipeline);
    for (unsigned i = 0; i < options->workers; i++)
        must(pthread_join(workers[i], NULL), "pthread_join");
    must(pthread_join(writer, NULL), "pthread_join");

    end_file(&pipeline);
    channel_close(&pipeline.unused);
    for (struct block *block; (block = channel_take(&pipeline.unused)) != NULL;)
        block_free(block);
    shelf_destroy(&pipeline.done);
    channel_destroy(&pipeline.filled);
    channel_destroy(&pipeline.unused);
    free(workers);
    return pipeline.totals;
}
