"""Everything the app says, in Japanese and in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

LANGUAGES = ("ja", "en")


class Both(NamedTuple):
    """A text in both languages."""

    ja: str
    en: str


TEXTS: Mapping[str, Both] = {
    # the frame
    "title": Both("FAX注文書を読む", "Reading faxed orders"),
    "read": Both("読み取り", "Read"),
    "results": Both("結果一覧", "Results"),
    "skip": Both("本文へ", "Skip to the content"),
    "language": Both("言語", "Language"),
    "menu": Both("メニュー", "Menu"),
    # choosing
    "lead": Both(
        "ノイズだった文字が、FAXの横で文になっていきます。",
        "Noise turns into text, beside the fax it is read from.",
    ),
    "drop": Both("スキャンをここに置く", "Drop a scan here"),
    "drop_more": Both("または", "or"),
    "choose_file": Both("ファイルを選ぶ", "choose a file"),
    "kinds": Both(
        "TIFF・PDF・PNG・JPEG、{pages}ページ・{size} MBまで",
        "TIFF, PDF, PNG, JPEG; up to {pages} pages and {size} MB",
    ),
    "samples": Both("見本", "Samples"),
    "sample": Both("見本 {name}", "Sample {name}"),
    "chosen": Both("選択中: {name}", "Chosen: {name}"),
    "nothing_chosen": Both("ファイルか見本を選んでください", "Choose a file or a sample"),
    "engine": Both("エンジン", "Engine"),
    "engine_missing": Both("このマシンでは使えません: {problem}", "cannot be used here: {problem}"),
    "runs": Both("回数", "Runs"),
    "runs_hint": Both("複数回読み、食い違いを示します", "several runs show where they differ"),
    "seed": Both("シード", "Seed"),
    "settings": Both("詳細設定", "More settings"),
    "start": Both("読み取る", "Read it"),
    "stop": Both("止める", "Stop"),
    "again": Both("別のファイル", "Another file"),
    # while it reads
    "page": Both("ページ", "Page"),
    "page_of": Both("{n} / {of} ページ", "page {n} of {of}"),
    "previous": Both("前のページ", "Previous page"),
    "next": Both("次のページ", "Next page"),
    "zoom_in": Both("拡大", "Zoom in"),
    "zoom_out": Both("縮小", "Zoom out"),
    "fit": Both("全体", "Fit"),
    "boxes": Both("枠", "Boxes"),
    "viewer": Both(
        "ページ画像。矢印キーで移動、＋と−で拡大縮小、0で全体",
        "Page image. Arrow keys move it, plus and minus zoom, 0 fits it",
    ),
    "text": Both("テキスト", "Text"),
    "text_hint": Both("灰色は下書き、黒は確定", "grey is draft, black is committed"),
    "heat": Both("迷いを色で", "Show doubt"),
    "heat_legend": Both("色が濃いほど迷っている", "the deeper the colour, the more doubt"),
    "differences": Both("違いを示す", "Mark differences"),
    "run": Both("{n} 回目", "Run {n}"),
    "step": Both("ステップ", "step"),
    "block": Both("ブロック", "block"),
    "entropy": Both("平均エントロピー", "mean entropy"),
    "speed": Both("トークン/秒", "tok/s"),
    "words": Both("語", "words"),
    "characters": Both("文字", "characters"),
    "replay": Both("ステップの再生", "Replay of the steps"),
    "play": Both("再生", "Play"),
    "pause": Both("一時停止", "Pause"),
    "uploading": Both("送信中…", "Sending…"),
    "waiting": Both("順番待ち: 前に{n}件", "Waiting: {n} before you"),
    "loading": Both("エンジンを準備中…", "Getting the engine ready…"),
    "reading_page": Both("{n}ページ目を読み取り中", "Reading page {n}"),
    "finished": Both("完了。確認が必要な箇所: {n}", "Done. Things to check: {n}"),
    "ended_stopped": Both("途中で止めました", "Stopped before the end"),
    "ended_failed": Both("読み取れませんでした", "It could not be read"),
    "ended_out_of_time": Both("時間切れで止まりました", "Stopped: it took too long"),
    "ended_client_too_slow": Both(
        "通信が遅すぎて中断しました", "Broken off: the connection is too slow"
    ),
    "broken": Both("接続が切れました", "The connection broke"),
    "waiting_text": Both(
        "読み取ると、ここに文字が現れます。", "The text appears here as it is read."
    ),
    # what came of it
    "downloads": Both("ダウンロード", "Downloads"),
    "download_md": Both("文字起こし (.md)", "Transcription (.md)"),
    "download_json": Both("すべて (.json)", "Everything (.json)"),
    "download_orders": Both("発注 (.csv)", "Orders (.csv)"),
    "download_lines": Both("明細 (.csv)", "Lines (.csv)"),
    "download_review": Both("要確認 (.csv)", "To check (.csv)"),
    "download_log": Both("記録 (.jsonl)", "Event log (.jsonl)"),
    "to_check": Both("要確認", "To check"),
    "nothing_to_check": Both("確認が必要な箇所はありません。", "Nothing to check."),
    "correction_place": Both(
        "訂正はここではまだできません。orders.xlsx の「訂正値」に記入してください。",
        "Values cannot be corrected here yet: use the column 訂正値 of orders.xlsx.",
    ),
    "order": Both("注文書", "Order"),
    "order_n": Both("注文書 {n}", "Order {n}"),
    "fields": Both("項目", "Fields"),
    "value": Both("値", "Value"),
    "lines": Both("明細", "Lines"),
    "taxes": Both("税", "Taxes"),
    "row": Both("{n}行目", "line {n}"),
    "reason": Both("理由", "Reason"),
    "as_read": Both("読み取った文字", "as read"),
    "candidates": Both("候補", "Candidates"),
    "votes": Both("{n}回", "{n}×"),
    "show_place": Both("{label}をページで見る", "Show {label} on the page"),
    "transcript": Both("文字起こし", "Transcription"),
    "whole_page": Both("{n}ページ全体", "the whole of page {n}"),
    "whole_order": Both("注文全体", "the whole order"),
    "doubted": Both("要確認", "to check"),
    "state_blank": Both("空欄", "blank"),
    "state_unreadable": Both("判読不能", "unreadable"),
    "state_absent": Both("欄なし", "no such place"),
    # documents
    "documents": Both("文書", "Documents"),
    "search": Both("検索", "Search"),
    "search_hint": Both("ファイル名・エラー", "file name, error"),
    "status": Both("状態", "Status"),
    "all": Both("すべて", "all"),
    "flags": Both("要確認", "To check"),
    "only_flagged": Both("要確認のみ", "only with something to check"),
    "filter": Both("絞り込む", "Filter"),
    "count": Both("{n} 件", "{n} documents"),
    "count_of": Both("{of} 件中 {n} 件", "{n} of {of} documents"),
    "pages": Both("ページ数", "Pages"),
    "orders": Both("注文数", "Orders"),
    "read_at": Both("読み取り日時", "Read at"),
    "file": Both("ファイル", "File"),
    "no_documents": Both("当てはまる文書はありません。", "No document is like that."),
    "back": Both("一覧へ", "All documents"),
    "earlier": Both("前へ", "Earlier"),
    "later": Both("次へ", "Later"),
    "scan_gone": Both(
        "スキャン画像はもう元の場所にありません。", "The scan is no longer where it was."
    ),
    "scan_changed": Both(
        "スキャン画像は読み取りのあとで変わったため、表示しません。",
        "The scan has changed since it was read, and is not shown.",
    ),
    "scan_broken": Both("スキャン画像を開けません。", "The scan cannot be opened."),
    "ok": Both("完了", "ok"),
    "blank": Both("白紙", "blank"),
    "not_an_order": Both("注文書でない", "not an order"),
    "incomplete": Both("途中まで", "incomplete"),
    "damaged": Both("損傷", "damaged"),
    "failed": Both("失敗", "failed"),
    # the door
    "login": Both("入室", "Sign in"),
    "token": Both("トークン", "Token"),
    "token_hint": Both(
        "サーバーの起動時に表示された文字列", "what the server printed when it started"
    ),
    "enter": Both("入る", "Enter"),
    "wrong_token": Both("トークンが違います。", "That is not the token."),
    "not_found": Both("そのページはありません。", "There is no such page."),
    "error": Both("エラー", "Error"),
    "home": Both("最初のページへ", "Back to the start"),
}


def translate(language: str, key: str, /, **values: object) -> str:
    """A text in one language, with its placeholders filled in.

    Raises:
        KeyError: there is no such text.
    """
    text: str = getattr(TEXTS[key], language)
    return text.format(**values) if values else text


def language_of(cookie: str | None, accepted: str | None) -> str:
    """The language of a visitor: what was chosen, or else what the browser prefers."""
    if cookie in LANGUAGES:
        return str(cookie)
    for part in (accepted or "").lower().split(","):
        tag = part.split(";")[0].strip().split("-")[0]
        if tag in LANGUAGES:
            return tag
    return "ja"
