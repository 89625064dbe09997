"""Every character that a sheet can hold: what a reader of these sheets has to know."""

from __future__ import annotations

import string

from synth.lexicon import alphabet as of_lexicons
from synth.names import CONFUSABLE, KATAKANA
from synth.wording import label_alphabet

_FIXED = "".join(
    (
        string.digits + string.ascii_uppercase + "０１２３４５６７８９",
        " 　,.-/:()+#%&¥円，．－￥％：（）▲△〃〒／",
        "年月日曜火水木金土令和元一式頁計続き対象税込承認検印担当収受領済之御中様",
        "株式会社有限合同㈱㈲",
        "下記の通り発注致しますので、よろしくお願い申し上げます。とおりご注文",
        "出精値引き特別",
    )
)


def alphabet() -> str:
    """All characters, sorted by code point."""
    parts = (of_lexicons(), label_alphabet(), KATAKANA, "".join(CONFUSABLE), _FIXED)
    return "".join(sorted(set("".join(parts))))
