"""Files that mean ill, made by scripts: the program answers each of them with a sentence, or copes."""
