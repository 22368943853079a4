/* Every fuzz target, one a line. */
TARGET(image)
TARGET(indexed)
