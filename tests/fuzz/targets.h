/* Every fuzz target, one a line. */
TARGET(image)
TARGET(indexed)
TARGET(manifest)
TARGET(mask)
TARGET(multilabel)
TARGET(safetensors)
