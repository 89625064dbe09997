"""A text for a model to answer, with the events of a reading."""

from __future__ import annotations

from ocr_pipeline.denoise.work import chatting
from ocr_pipeline.engines.base import ChatEngine
from ocr_pipeline.errors import UsageError
from ocr_pipeline.web.jobs import Job, Work


def chat_work(prompt: str, runs: int, seed: int) -> Work:
    """What a job does to answer a text."""

    def run(job: Job) -> None:
        engine = job.slot.engine(job.options)
        if not isinstance(engine, ChatEngine):
            raise UsageError(
                f"{engine.name} reads pages and answers no text",
                remedy="choose a language model, such as diffusiongemma",
            )
        chatting(engine, engine.name, prompt, runs, seed)(job.emit, job.stopped)

    return run
