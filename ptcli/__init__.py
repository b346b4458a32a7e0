"""Pretrain language models of the BERT family and their relatives, and fine-tune them, from one command line."""

__version__ = "0.1.0"
