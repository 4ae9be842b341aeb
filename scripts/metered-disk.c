// A disk in memory with the limits of a cloud volume: operations and bytes a second, and a constant latency. A file system in user space (FUSE) that
// is one file, which scripts/metered-disk.sh puts behind a loop device. Each request of up to 256 KiB counts as one operation, begins when the
// operations and the bytes before it have had their time, and is answered one latency later. Requests overlap, as in a network disk.
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 128, LARGEST = 256 << 10, SECOND = 1000000000 };

static int channel;
static char *disk;
static uint64_t size, operation_ns, bytes_per_second, latency_ns;
static pthread_mutex_t meter = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_operation, next_byte;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (uint64_t)SECOND + time.tv_nsec;
}

// Waits for as long as a volume with these limits takes for one operation that arrived at this time.
static void wait_for_disk(uint64_t arrived, uint64_t bytes)
{
    pthread_mutex_lock(&meter);
    uint64_t start = arrived;
    if (start < next_operation) start = next_operation;
    if (start < next_byte) start = next_byte;
    next_operation = start + operation_ns;
    next_byte = start + bytes * SECOND / bytes_per_second;
    pthread_mutex_unlock(&meter);

    uint64_t end = start + latency_ns;
    struct timespec until = { end / SECOND, end % SECOND };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) { }
}

static void answer(const struct fuse_in_header *request, int error, const void *data, size_t length)
{
    struct fuse_out_header header = { sizeof header + length, error, request->unique };
    struct iovec parts[] = { { &header, sizeof header }, { (void *)data, length } };
    if (writev(channel, parts, length ? 2 : 1) < 0 && errno != ENOENT) perror("metered disk: answer");
}

static void answer_attributes(const struct fuse_in_header *request)
{
    struct fuse_attr_out out = { .attr_valid = 3600 };
    out.attr = (struct fuse_attr){ .ino = 1, .size = size, .blocks = size / 512, .mode = S_IFREG | 0600, .nlink = 1, .blksize = 4096 };
    answer(request, 0, &out, sizeof out);
}

static void initialize(const struct fuse_in_header *request, const struct fuse_init_in *in)
{
    struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION };
    out.max_readahead = in->max_readahead;
    out.flags = in->flags & (FUSE_ASYNC_READ | FUSE_ASYNC_DIO | FUSE_BIG_WRITES | FUSE_MAX_PAGES);
    out.max_background = out.congestion_threshold = THREADS;
    out.max_write = LARGEST;
    out.max_pages = LARGEST / 4096;
    answer(request, 0, &out, sizeof out);
}

static void serve(char *buffer, uint64_t arrived)
{
    const struct fuse_in_header *request = (void *)buffer;
    const void *in = request + 1;
    const struct fuse_read_in *read_in = in;
    const struct fuse_write_in *write_in = in;
    switch (request->opcode) {
    case FUSE_INIT: initialize(request, in); break;
    case FUSE_GETATTR: case FUSE_SETATTR: answer_attributes(request); break;
    case FUSE_OPEN: {
        struct fuse_open_out out = { .open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES };
        answer(request, 0, &out, sizeof out);
        break;
    }
    case FUSE_READ:
        if (read_in->offset + read_in->size > size) { answer(request, 0, NULL, 0); break; }
        wait_for_disk(arrived, read_in->size);
        answer(request, 0, disk + read_in->offset, read_in->size);
        break;
    case FUSE_WRITE: {
        if (write_in->offset + write_in->size > size) { answer(request, -ENOSPC, NULL, 0); break; }
        memcpy(disk + write_in->offset, write_in + 1, write_in->size);
        wait_for_disk(arrived, write_in->size);
        struct fuse_write_out out = { .size = write_in->size };
        answer(request, 0, &out, sizeof out);
        break;
    }
    case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_FSYNC: answer(request, 0, NULL, 0); break;
    case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: break;
    default: answer(request, -ENOSYS, NULL, 0); break;
    }
}

static void *work(void *unused)
{
    char *buffer = aligned_alloc(4096, LARGEST + 4096);
    prctl(PR_SET_TIMERSLACK, 1);
    if (buffer == NULL) { perror("metered disk"); exit(1); }
    for (;;) {
        ssize_t length = read(channel, buffer, LARGEST + 4096);
        if (length > 0) serve(buffer, now());
        else if (errno == ENODEV) exit(0);
        else if (errno != EINTR && errno != EAGAIN && errno != ENOENT) { perror("metered disk: request"); exit(1); }
    }
    return unused;
}

int main(int count, char **words)
{
    if (count != 6) {
        fprintf(stderr, "Usage: metered-disk FILE BYTES OPERATIONS_PER_SECOND BYTES_PER_SECOND LATENCY_US\n");
        return 2;
    }
    size = strtoull(words[2], NULL, 10);
    operation_ns = SECOND / strtoull(words[3], NULL, 10);
    bytes_per_second = strtoull(words[4], NULL, 10);
    latency_ns = strtoull(words[5], NULL, 10) * 1000;
    disk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    channel = open("/dev/fuse", O_RDWR);
    char options[100];
    snprintf(options, sizeof options, "fd=%d,rootmode=100600,user_id=0,group_id=0", channel);
    if (disk == MAP_FAILED || channel < 0 || mount("metered-disk", words[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        perror("metered disk");
        return 1;
    }

    // A disk does not compete with its user for a processor.
    struct sched_param priority = { .sched_priority = 1 };
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) perror("metered disk: priority");

    for (int i = 0; i < THREADS - 1; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0) { perror("metered disk"); return 1; }
    }
    work(NULL);
}
