"""Reading and writing tables: csv, tsv, xlsx, parquet, jsonl, label files and the paper's data sets."""
