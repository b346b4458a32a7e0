"""The papers behind a model, as bibtex."""

import re
from collections.abc import Iterable

_ID = re.compile(r"arXiv:(\d{4}\.\d{4,5})")

# arXiv id -> key, authors, title; the year follows from the id
_PAPERS = {
    "1607.06450": (
        "ba2016layernorm",
        "Ba, Jimmy Lei and Kiros, Jamie Ryan and Hinton, Geoffrey E.",
        "Layer Normalization",
    ),
    "1606.08415": ("hendrycks2016gelu", "Hendrycks, Dan and Gimpel, Kevin", "Gaussian Error Linear Units (GELUs)"),
    "1706.03762": (
        "vaswani2017attention",
        "Vaswani, Ashish and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones, Llion and Gomez, Aidan N. "
        "and Kaiser, Lukasz and Polosukhin, Illia",
        "Attention Is All You Need",
    ),
    "1711.05101": (
        "loshchilov2017adamw",
        "Loshchilov, Ilya and Hutter, Frank",
        "Decoupled Weight Decay Regularization",
    ),
    "1810.04805": (
        "devlin2018bert",
        "Devlin, Jacob and Chang, Ming-Wei and Lee, Kenton and Toutanova, Kristina",
        "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    ),
    "1907.10529": (
        "joshi2019spanbert",
        "Joshi, Mandar and Chen, Danqi and Liu, Yinhan and Weld, Daniel S. and Zettlemoyer, Luke and Levy, Omer",
        "SpanBERT: Improving Pre-training by Representing and Predicting Spans",
    ),
    "1907.11692": (
        "liu2019roberta",
        "Liu, Yinhan and Ott, Myle and Goyal, Naman and Du, Jingfei and Joshi, Mandar and Chen, Danqi and Levy, Omer "
        "and Lewis, Mike and Zettlemoyer, Luke and Stoyanov, Veselin",
        "RoBERTa: A Robustly Optimized BERT Pretraining Approach",
    ),
    "1909.11942": (
        "lan2019albert",
        "Lan, Zhenzhong and Chen, Mingda and Goodman, Sebastian and Gimpel, Kevin and Sharma, Piyush and Soricut, Radu",
        "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations",
    ),
    "2002.04745": (
        "xiong2020layernorm",
        "Xiong, Ruibin and Yang, Yunchang and He, Di and Zheng, Kai and Zheng, Shuxin and Xing, Chen and Zhang, "
        "Huishuai and Lan, Yanyan and Wang, Liwei and Liu, Tie-Yan",
        "On Layer Normalization in the Transformer Architecture",
    ),
    "2003.10555": (
        "clark2020electra",
        "Clark, Kevin and Luong, Minh-Thang and Le, Quoc V. and Manning, Christopher D.",
        "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators",
    ),
    "2104.09864": (
        "su2021roformer",
        "Su, Jianlin and Lu, Yu and Pan, Shengfeng and Murtadha, Ahmed and Wen, Bo and Liu, Yunfeng",
        "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    ),
}


def cited(texts: Iterable[str]) -> list[str]:
    """The arXiv ids in the texts, each once, oldest first."""
    return sorted({found for text in texts for found in _ID.findall(text)})


def bibtex(identifier: str) -> str:
    """The entry of an arXiv id; one that is not known here gets its number and where it is found."""
    year = f"20{identifier[:2]}"
    key, authors, title = _PAPERS.get(identifier, (f"arxiv{identifier.replace('.', '_')}", "", ""))
    fields = {
        "author": authors,
        "title": f"{{{title}}}" if title else "",
        "year": year,
        "eprint": identifier,
        "archivePrefix": "arXiv",
        "url": f"https://arxiv.org/abs/{identifier}",
    }
    lines = [f"  {name:<13} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
