/* Every fuzz target, one a line. */
TARGET(boxes)
TARGET(image)
TARGET(indexed)
TARGET(letters)
TARGET(manifest)
TARGET(mask)
TARGET(multilabel)
TARGET(safetensors)
