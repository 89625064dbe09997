"""A channel that has an end."""

import asyncio
import json
import threading

from ocr_pipeline.engines.events import Event
from ocr_pipeline.web.streams import Channel, Message, message


async def taken(channel):
    return [item async for item in channel]


def test_what_is_put_from_another_thread_arrives_in_order():
    async def main():
        channel = Channel(1000, 10**6)

        def put():
            for i in range(500):
                channel.put(Message("committed", str(i)))
            channel.close()

        thread = threading.Thread(target=put)
        thread.start()
        items = await taken(channel)
        thread.join()
        assert [item.data for item in items] == [str(i) for i in range(500)]
        assert channel.dropped == 0

    asyncio.run(main())


def test_when_it_is_full_the_oldest_drafts_go_and_nothing_else():
    async def main():
        channel = Channel(10, 10**6)
        channel.put(Message("committed", "first"))
        for i in range(100):
            channel.put(Message("draft", str(i)))
        channel.put(Message("committed", "last"))
        channel.close()
        items = await taken(channel)
        assert len(items) == 10
        assert items[0].data == "first"
        assert items[-1].data == "last"
        assert [i.data for i in items[1:-1]] == [str(i) for i in range(92, 100)]
        assert channel.dropped == 92
        assert not channel.overflowed

    asyncio.run(main())


def test_it_counts_characters_too():
    async def main():
        channel = Channel(1000, 100)
        for _ in range(50):
            channel.put(Message("draft", "x" * 30))
        assert len(channel) == 3

    asyncio.run(main())


def test_one_large_message_always_fits():
    async def main():
        channel = Channel(10, 100)
        channel.put(Message("draft", "x" * 90))
        channel.put(Message("record", "x" * 1000))
        channel.close()
        assert [len(item.data) for item in await taken(channel)] == [1000]
        assert not channel.overflowed

    asyncio.run(main())


def test_a_client_that_takes_nothing_loses_its_reading_not_our_memory():
    async def main():
        channel = Channel(10, 10**6)
        for i in range(100):
            channel.put(Message("committed", str(i)))
        assert channel.overflowed
        assert len(channel) == 0
        assert await taken(channel) == []

    asyncio.run(main())


def test_a_closed_channel_takes_nothing():
    async def main():
        channel = Channel(10, 100)
        channel.close()
        channel.put(Message("done", ""))
        assert await taken(channel) == []

    asyncio.run(main())


def test_putting_after_the_loop_is_gone_does_no_harm():
    channel = asyncio.run(_channel())
    channel.put(Message("done", ""))


async def _channel():
    return Channel(10, 100)


def test_an_event_becomes_one_line_whatever_is_in_it():
    text = '"\n\r\u2028<|\ud83d'
    item = message(Event("committed", 1, 2, 3, {"text": text, "confidence": [float("nan")]}))
    assert "\n" not in item.data
    assert "\r" not in item.data
    plain = json.loads(item.data.encode())
    assert plain["data"] == {"text": text, "confidence": [None]}
    assert (plain["run"], plain["page"], plain["tile"], plain["version"]) == (1, 2, 3, 1)
    assert (item.kind, item.page) == ("committed", 2)
