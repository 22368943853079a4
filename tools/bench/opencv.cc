// OpenCV's side of the benchmarks, a program of its own so that cleave never links OpenCV.
//
//   opencv slic MANIFEST N EVERY LABELS      SLIC of about N superpixels on every EVERY-th image that has a mask; prints
//                                            Mpixel per CPU second on one thread; LABELS receives, for each image,
//                                            int32 width, height, labels[height][width]
//   opencv boxes BOXES OUT                   GrabCut (5 iterations) of each row of BOXES (columns image, name, x, y, w, h);
//                                            OUT/<name>.png is the mask, of a row that fails there is none; prints how
//                                            many succeeded and failed, and the CPU seconds of grabCut alone
//   opencv grabcut MANIFEST BOXES SPLIT OUT  GrabCut (5 iterations) from the true boxes; OUT/<stem>.png is the mask and
//                                            OUT/<stem>.overlay.png the overlay; prints images per wall and CPU second
//   opencv clicks                            for the robot user: reads int32 width, height, is_new, an image's RGB pixels if it
//                                            is new, seeds (1 background, 2 foreground); writes the milliseconds of a GrabCut of 5
//                                            iterations by mask, as a double, and the labels; again and again
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/ximgproc/slic.hpp>

namespace fs = std::filesystem;

static double seconds(clockid_t clock)
{
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

using Row = std::map<std::string, std::string>;

// A tab-separated file with a header line.
static std::vector<Row> read_table(const std::string &path)
{
    std::ifstream stream(path);
    std::string line, field;
    std::vector<std::string> names;
    std::vector<Row> rows;
    while (std::getline(stream, line)) {
        std::istringstream fields(line);
        if (names.empty()) {
            while (std::getline(fields, field, '\t'))
                names.push_back(field);
            continue;
        }
        Row row;
        for (const auto &name : names)
            if (std::getline(fields, field, '\t'))
                row[name] = field;
        rows.push_back(row);
    }
    return rows;
}

static int slic(const std::string &manifest, int wanted, int every, const std::string &out)
{
    cv::setNumThreads(1);
    FILE *stream = fopen(out.c_str(), "wb");
    if (!stream)
        return 1;
    double used = 0, pixels = 0;
    int index = 0;
    for (const auto &row : read_table(manifest)) {
        if (row.count("mask") == 0 || row.at("mask").empty() || index++ % every != 0)
            continue;
        cv::Mat image = cv::imread((fs::path(manifest).parent_path() / row.at("image")).string(), cv::IMREAD_COLOR);
        if (image.empty())
            return 1;
        double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
        cv::Mat lab, labels;
        cv::cvtColor(image, lab, cv::COLOR_BGR2Lab);
        int size = std::max(1, int(std::lround(std::sqrt(double(image.total()) / wanted))));
        auto superpixels =
            cv::ximgproc::createSuperpixelSLIC(lab, cv::ximgproc::SLIC, size, 30.0F); // best accuracy here
        superpixels->iterate(10);
        superpixels->enforceLabelConnectivity(25);
        superpixels->getLabels(labels);
        used += seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        pixels += double(image.total());
        int32_t shape[2] = {image.cols, image.rows};
        fwrite(shape, sizeof shape[0], 2, stream);
        for (int y = 0; y < labels.rows; y++)
            fwrite(labels.ptr<int32_t>(y), sizeof(int32_t), size_t(labels.cols), stream);
    }
    printf("%.6f\n", pixels / used / 1e6);
    return fclose(stream) ? 1 : 0;
}

static void write_overlay(const std::string &path, const cv::Mat &image, const cv::Mat &foreground)
{
    cv::Mat overlay = image.clone(), tint(image.size(), CV_8UC3, cv::Scalar(0, 0, 128)), mixed;
    cv::addWeighted(image, 0.5, tint, 0.5, 0, mixed);
    mixed.copyTo(overlay, foreground);
    std::vector<std::vector<cv::Point>> outlines;
    cv::findContours(foreground, outlines, cv::RETR_LIST, cv::CHAIN_APPROX_NONE);
    cv::drawContours(overlay, outlines, -1, cv::Scalar(255, 255, 255), 1);
    cv::imwrite(path, overlay);
}

static int grabcut(const std::string &manifest, const std::string &boxes, const std::string &split,
                   const std::string &out)
{
    std::map<std::string, cv::Rect> box_of;
    for (const auto &row : read_table(boxes))
        box_of[row.at("image")] =
            cv::Rect(std::stoi(row.at("x")), std::stoi(row.at("y")), std::stoi(row.at("w")), std::stoi(row.at("h")));
    fs::create_directories(out);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int n = 0;
    for (const auto &row : read_table(manifest)) {
        if (row.count("split") == 0 || row.at("split") != split || box_of.count(row.at("image")) == 0)
            continue;
        fs::path path = fs::path(manifest).parent_path() / row.at("image");
        cv::Mat image = cv::imread(path.string(), cv::IMREAD_COLOR), mask, background, foreground;
        if (image.empty())
            return 1;
        cv::grabCut(image, mask, box_of[row.at("image")], background, foreground, 5, cv::GC_INIT_WITH_RECT);
        cv::Mat label = mask & 1; // GC_FGD is 1, GC_PR_FGD 3
        cv::imwrite((fs::path(out) / path.stem()).string() + ".png", label);
        write_overlay((fs::path(out) / path.stem()).string() + ".overlay.png", image, label);
        n++;
    }
    printf("%d %.6f %.6f\n", n, n / (seconds(CLOCK_MONOTONIC) - wall), n / (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu));
    return 0;
}

static int boxes(const std::string &table, const std::string &out)
{
    int n = 0, n_failed = 0;
    double used = 0;
    fs::create_directories(out);
    for (const auto &row : read_table(table)) {
        cv::Mat image = cv::imread(row.at("image"), cv::IMREAD_COLOR);
        if (image.empty())
            return 1;
        cv::Mat mask, background, foreground;
        cv::Rect box(std::stoi(row.at("x")), std::stoi(row.at("y")), std::stoi(row.at("w")), std::stoi(row.at("h")));
        double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
        try {
            cv::grabCut(image, mask, box, background, foreground, 5, cv::GC_INIT_WITH_RECT);
        } catch (const cv::Exception &) {
            n_failed++;
            continue;
        }
        used += seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        cv::Mat label = mask & 1; // GC_FGD is 1, GC_PR_FGD 3
        cv::imwrite((fs::path(out) / row.at("name")).string() + ".png", label);
        n++;
    }
    printf("%d %d %.6f\n", n, n_failed, used);
    return 0;
}

// Free pixels are probable background, until there is a mask to go on from; the models learn from it anew.
static int clicks()
{
    int32_t head[3];
    cv::Mat image, mask;
    while (fread(head, sizeof head, 1, stdin) == 1) {
        size_t n = size_t(head[0]) * size_t(head[1]);
        std::vector<uint8_t> seeds(n);
        if (head[2]) {
            cv::Mat rgb(head[1], head[0], CV_8UC3);
            if (fread(rgb.data, 3, n, stdin) != n)
                return 1;
            cv::cvtColor(rgb, image, cv::COLOR_RGB2BGR);
            mask = cv::Mat(head[1], head[0], CV_8UC1, cv::Scalar(cv::GC_PR_BGD));
        }
        if (fread(seeds.data(), 1, n, stdin) != n)
            return 1;
        for (size_t p = 0; p < n; p++)
            if (seeds[p])
                mask.data[p] = seeds[p] == 2 ? cv::GC_FGD : cv::GC_BGD;
        timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        try {
            cv::Mat background, foreground;
            cv::grabCut(image, mask, cv::Rect(), background, foreground, 5, cv::GC_INIT_WITH_MASK);
        } catch (const cv::Exception &) { // too few colours: the mask stays
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ms = 1e3 * double(end.tv_sec - begin.tv_sec) + 1e-6 * double(end.tv_nsec - begin.tv_nsec);
        for (size_t p = 0; p < n; p++)
            seeds[p] = mask.data[p] & 1;
        if (fwrite(&ms, sizeof ms, 1, stdout) != 1 || fwrite(seeds.data(), 1, n, stdout) != n || fflush(stdout) != 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    std::string command = argc > 1 ? argv[1] : "";
    if (command == "slic" && argc == 6)
        return slic(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), argv[5]);
    if (command == "grabcut" && argc == 6)
        return grabcut(argv[2], argv[3], argv[4], argv[5]);
    if (command == "boxes" && argc == 4)
        return boxes(argv[2], argv[3]);
    if (command == "clicks" && argc == 2)
        return clicks();
    fprintf(stderr,
            "usage: opencv clicks | opencv slic MANIFEST N EVERY LABELS | opencv boxes BOXES OUT | opencv grabcut "
            "MANIFEST BOXES SPLIT OUT\n");
    return 64;
}
