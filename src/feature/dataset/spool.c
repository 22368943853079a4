#include "feature/dataset/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

#define COPY_SIZE ((size_t)1 << 20)

enum clv_status staging_open(struct staging *staging, const char *target, struct clv_error *err)
{
    struct stat info;
    *staging = (struct staging){0};
    bool elsewhere = strcmp(target, "-") == 0 || (stat(target, &info) == 0 && !S_ISREG(info.st_mode));
    if (!elsewhere) {
        char *folder = path_folder(target);
        if (!folder)
            return fail_memory(err);
        int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        array_free(folder);
        if (fd >= 0) {
            staging->stream = fdopen(fd, "w+b");
            if (!staging->stream)
                close(fd);
        } else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", target);
        }
    }
    if (!staging->stream)
        staging->stream = tmpfile();
    return staging->stream ? CLV_OK
                           : fail_errno(err, CLV_ERR_CREATE, "%s: cannot create a temporary file for it", target);
}

void staging_close(struct staging *staging)
{
    if (staging->stream)
        fclose(staging->stream);
    *staging = (struct staging){0};
}

enum clv_status staging_append(struct staging *staging, const void *bytes, size_t size, const char *target,
                               struct clv_error *err)
{
    if (size && fwrite(bytes, 1, size, staging->stream) != size)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    staging->size += size;
    return CLV_OK;
}

enum clv_status staging_copy(FILE *stream, struct staging *staging, const char *target, struct clv_error *err)
{
    if (fflush(staging->stream) || fseeko(staging->stream, 0, SEEK_SET))
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    char *buffer = array_alloc(COPY_SIZE, 1);
    if (!buffer)
        return fail_memory(err);
    uint64_t copied = 0;
    for (size_t n; !ferror(stream) && (n = fread(buffer, 1, COPY_SIZE, staging->stream)) > 0; copied += n)
        fwrite(buffer, 1, n, stream);
    array_free(buffer);
    if (!ferror(stream) && copied != staging->size)
        return fail(err, CLV_ERR_IO, "%s: its temporary file lost %llu bytes", target,
                    (unsigned long long)(staging->size - copied));
    return CLV_OK;
}
