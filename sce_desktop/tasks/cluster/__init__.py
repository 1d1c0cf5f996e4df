"""A table scored by a cluster: parts of its files go to workers, which read, score and write them."""
