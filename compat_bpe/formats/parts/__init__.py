"""The parts of a ``tokenizer.json`` around its model, one module a stage.

Each reader takes a part as in the file and returns the stage of the pipeline that it describes.
A part that is not supported is a ``ValueError`` that names it. The names and their meaning are
those of Hugging Face tokenizers 0.23.3.
"""
