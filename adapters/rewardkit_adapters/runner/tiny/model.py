"""A tokenizer and a causal language model that are built locally, without a download.

The smallest model has 0.5 million parameters. With this tokenizer (``Mia``, ``":"``, ``toy``, single digits), an answer
has about twenty tokens, so a CPU generates the completions for a training step in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 360
"""The number of tokens in the vocabulary: all bytes, and about a hundred pieces of the words in orders."""
END, PADDING, UNKNOWN = "<end>", "<pad>", "<unknown>"
LONGEST_SEQUENCE = 128
"""The maximum number of tokens in a sequence. An order and its JSON need fewer tokens."""
REFERENCE_HIDDEN = 128
"""The layer width for which the learning rate and the standard deviation of the weights were chosen."""


@dataclass(frozen=True)
class Size:
    """The shape of a model. The smallest model runs on a CPU, but the others need a GPU."""

    hidden: int
    layers: int
    heads: int
    intermediate: int

    @property
    def learning_rate_factor(self) -> float:
        """The factor by which to multiply learning rates that suit the smallest model.

        Wider models need smaller Adam steps."""
        return REFERENCE_HIDDEN / self.hidden


# Arbitrary: the small model suits a CPU, the others a GPU.
SIZES = {
    "small": Size(hidden=128, layers=2, heads=4, intermediate=384),
    "medium": Size(hidden=512, layers=6, heads=8, intermediate=1536),
    "large": Size(hidden=1024, layers=12, heads=16, intermediate=3072),
}


def train_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Train a byte-pair tokenizer that separates words, digits, and runs of punctuation."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    # Single digits, so that the model copies a number digit by digit. Otherwise it would be one of 98 unrelated tokens.
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[A-Za-z]+|[0-9]|[^A-Za-z0-9]+"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[PADDING, END, UNKNOWN], show_progress=False)
    tokenizer.train_from_iterator(texts, trainer=trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PADDING,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=LONGEST_SEQUENCE,
    )


def build_model(tokenizer: PreTrainedTokenizerFast, size: Size) -> LlamaForCausalLM:
    """Return a Llama model with random weights, drawn from torch's global random generator."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.hidden,
        intermediate_size=size.intermediate,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        max_position_embeddings=LONGEST_SEQUENCE,
        tie_word_embeddings=True,
        # At this width, with the usual 0.02, one field of the order stays at chance level.
        initializer_range=0.05 * (REFERENCE_HIDDEN / size.hidden) ** 0.5,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)
