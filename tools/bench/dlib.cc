// dlib's side of the chain benchmark, a program of its own so that cleave never links dlib.
//
//   dlib FILE     decodes the words of FILE (written by tools/bench/chain) with dlib's sequence_labeler on one thread; prints
//                 seconds of CPU and the sum of all labels
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include <dlib/svm/sequence_labeler.h>

constexpr unsigned long n_labels = 26, n_features = 128, n_pairs = n_labels * n_labels;

// A letter is the list of its pixels that are set.
class extractor
{
  public:
    typedef std::vector<std::vector<uint8_t>> sequence_type;
    unsigned long num_features() const
    {
        return n_pairs + n_features * n_labels;
    }
    unsigned long order() const
    {
        return 1;
    }
    unsigned long num_labels() const
    {
        return ::n_labels;
    }

    template <typename setter, typename EXP>
    void get_features(setter &set, const sequence_type &word, const dlib::matrix_exp<EXP> &y, unsigned long i) const
    {
        if (y.size() > 1)
            set(y(1) * ::n_labels + y(0));
        for (uint8_t pixel : word[i])
            set(n_pairs + pixel * ::n_labels + y(0));
    }
};

template <typename T> static bool read(FILE *stream, T *target, size_t n)
{
    return fread(target, sizeof(T), n, stream) == n;
}

int main(int argc, char **argv)
{
    FILE *stream = argc == 2 ? fopen(argv[1], "rb") : nullptr;
    int32_t n_words = 0;
    dlib::matrix<double, 0, 1> weights(n_pairs + n_features * n_labels);
    if (!stream || !read(stream, &weights(0), size_t(weights.size())) || !read(stream, &n_words, 1)) {
        fprintf(stderr, "usage: dlib FILE\n");
        return 64;
    }
    std::vector<extractor::sequence_type> words(static_cast<size_t>(n_words));
    for (auto &word : words) {
        int32_t length = 0;
        if (!read(stream, &length, 1))
            return 65;
        word.resize(size_t(length));
        for (auto &letter : word) {
            uint8_t n_set = 0;
            if (!read(stream, &n_set, 1))
                return 65;
            letter.resize(n_set);
            if (!read(stream, letter.data(), n_set))
                return 65;
        }
    }
    fclose(stream);
    dlib::sequence_labeler<extractor> labeler(weights);
    timespec begin, end;
    long long sum = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (const auto &word : words)
        for (unsigned long label : labeler(word))
            sum += (long long)label;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    printf("%.9f %lld\n", double(end.tv_sec - begin.tv_sec) + 1e-9 * double(end.tv_nsec - begin.tv_nsec), sum);
    return 0;
}
