"""GGUF: the files of llama.cpp, which hold a model and its vocabulary; the weights are not read."""
