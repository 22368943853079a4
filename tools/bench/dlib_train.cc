// dlib's side of the letters benchmark, a program of its own so that cleave never links dlib.
//
//   dlib_train WORDS WEIGHTS C EPSILON    trains its structural_sequence_labeling_trainer on one thread on the words that
//                                         tools/bench/letters_train wrote; writes its weights, prints its seconds of CPU
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <dlib/svm_threaded.h>

constexpr unsigned long n_labels = 26, n_features = 131, n_pairs = n_labels * n_labels;

// A letter is the list of its features that are set; weights are [label][feature], then [label before][label].
class extractor
{
  public:
    typedef std::vector<std::vector<uint8_t>> sequence_type;
    unsigned long num_features() const
    {
        return n_labels * n_features + n_pairs;
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
        for (uint8_t feature : word[i])
            set(y(0) * n_features + feature);
        if (y.size() > 1)
            set(n_labels * n_features + y(1) * ::n_labels + y(0));
    }
};

void serialize(const extractor &, std::ostream &)
{
}

void deserialize(extractor &, std::istream &)
{
}

template <typename T> static T read_one(FILE *stream)
{
    T value = 0;
    if (fread(&value, sizeof value, 1, stream) != 1)
        exit(65);
    return value;
}

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

int main(int argc, char **argv)
{
    FILE *stream = argc == 5 ? fopen(argv[1], "rb") : nullptr;
    if (!stream)
        return 64;
    std::vector<extractor::sequence_type> words(read_one<uint32_t>(stream));
    std::vector<std::vector<unsigned long>> labels(words.size());
    for (size_t w = 0; w < words.size(); w++) {
        words[w].resize(read_one<uint8_t>(stream));
        for (auto &letter : words[w]) {
            labels[w].push_back(read_one<uint8_t>(stream));
            letter.resize(read_one<uint8_t>(stream));
            for (auto &feature : letter)
                feature = read_one<uint8_t>(stream);
        }
    }
    fclose(stream);
    dlib::structural_sequence_labeling_trainer<extractor> trainer;
    trainer.set_num_threads(1);
    trainer.set_c(atof(argv[3]));
    trainer.set_epsilon(atof(argv[4]));
    double start = seconds();
    const auto labeler = trainer.train(words, labels);
    double used = seconds() - start;
    const auto &weights = labeler.get_weights();
    stream = fopen(argv[2], "wb");
    if (!stream || fwrite(&weights(0), sizeof(double), size_t(weights.size()), stream) != size_t(weights.size()) ||
        fclose(stream))
        return 74;
    printf("%.6f\n", used);
    return 0;
}
