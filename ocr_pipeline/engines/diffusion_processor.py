"""The processor of Gemma 4 without its ears and its cinema.

`Gemma4Processor` also wants an audio feature extractor and a video processor, and the latter exists
only where torchvision is installed. A page needs neither. This subclass takes the image processor
(the PIL one) and the tokenizer, and leaves everything else to the original: chat template,
expansion of image tokens, batching. It loads the same files.
"""

from __future__ import annotations

from typing import Any

from transformers import Gemma4Processor
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
from transformers.processing_utils import ProcessorMixin

__all__ = ["Gemma4ImageProcessorPil", "PageProcessor"]


class PageProcessor(Gemma4Processor):
    """Images and text → model inputs."""

    def __init__(
        self,
        image_processor: Gemma4ImageProcessorPil,
        tokenizer: Any,
        chat_template: str | None = None,
        image_seq_length: int = 280,
        **_: Any,
    ) -> None:
        self.image_seq_length = image_seq_length
        self.image_token_id = tokenizer.image_token_id
        self.image_token = tokenizer.image_token
        self.boi_token, self.eoi_token = tokenizer.boi_token, tokenizer.eoi_token
        self.boa_token = getattr(tokenizer, "boa_token", None)
        self.eoa_token = getattr(tokenizer, "eoa_token", None)
        self.audio_token = getattr(tokenizer, "audio_token", None)
        self.audio_token_id = getattr(tokenizer, "audio_token_id", None)
        self.video_token = "<|video|>"
        self.video_token_id = tokenizer.convert_tokens_to_ids(self.video_token)
        ProcessorMixin.__init__(
            self,
            image_processor=image_processor,
            tokenizer=tokenizer,
            chat_template=chat_template or getattr(tokenizer, "chat_template", None),
        )

    @classmethod
    def get_attributes(cls) -> list[str]:
        """The parts, in the order of `__init__`."""
        return ["image_processor", "tokenizer"]
