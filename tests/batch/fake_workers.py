"""Readers that behave badly on request: the file's own text says how."""

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from decimal import Decimal

from ocr_pipeline.engines.base import Reading
from ocr_pipeline.errors import MissingExtraError, UnreadableFileError
from ocr_pipeline.export.record import DocumentStatus, PageRecord, Record
from ocr_pipeline.orders.model import FieldState, FieldValue, Flag, Order

FLAG = Flag("low", "確かではありません", "not sure")


@dataclass(frozen=True)
class Field:
    name: str
    label: str
    kind: str


@dataclass(frozen=True)
class Form:
    fields = (Field("order_no", "発注番号", "code"), Field("total", "合計", "money"))
    rows = (Field("item", "品名", "text"),)


def read(path, source):
    """An order whose number is the text of the file, and whose readings name the process."""
    text = path.read_text(encoding="utf-8")
    what, _, number = text.partition(" ")
    match what:
        case "raise":
            raise RuntimeError("something broke")
        case "unreadable":
            raise UnreadableFileError("the file is truncated", remedy="ask for it again")
        case "exit":
            sys.exit(3)
        case "die":
            os._exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            time.sleep(60)
        case "slow":
            time.sleep(float(number))
        case "blank":
            return Record(source, DocumentStatus.BLANK, pages=(PageRecord(1),))
        case "lock":
            order = Order({"order_no": FieldValue(raw=threading.Lock())})
            return Record(source, DocumentStatus.OK, orders=(order,))
        case "nan":
            return Record(source, DocumentStatus.OK, stats={"seconds": float("nan")})
    order = Order(
        {
            "order_no": FieldValue(FieldState.READ, text, text, 1.0, page=1),
            "total": FieldValue(FieldState.READ, "1", Decimal("1.50"), 0.2, flags=(FLAG,), page=1),
        },
        ({"item": FieldValue(FieldState.READ, "ねじ", "ねじ", 1.0, page=1)},),
        pages=(1,),
    )
    return Record(
        source,
        DocumentStatus.OK,
        pages=(PageRecord(1),),
        orders=(order,),
        readings=(Reading(str(os.getpid())),),
        markdown=f"# {text}\n",
    )


def make_reader():
    return read


def make_broken():
    raise ValueError("no such model")


def make_missing():
    raise MissingExtraError("torch is not installed", extra="gemma")


def make_dead():
    os._exit(9)


@dataclass(frozen=True)
class OnlyFirst:
    """Starts once; every later worker cannot start."""

    token: str

    def __call__(self):
        try:
            os.close(os.open(self.token, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise MissingExtraError("out of memory") from None
        return read
