"""One at a time, first come first served."""

import asyncio

import pytest

from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.queue import Turns


def test_it_is_the_first_ones_turn_at_once():
    async def main():
        turns, moves = Turns(3), []
        async with turns.turn(moves.append):
            assert moves == [0]
        assert len(turns) == 0

    asyncio.run(main())


def test_they_come_in_the_order_they_came_and_know_their_place():
    async def main():
        turns, order, moves = Turns(3), [], {k: [] for k in "abc"}

        async def visit(name):
            async with turns.turn(moves[name].append):
                order.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(*(visit(n) for n in "abc"))
        assert order == ["a", "b", "c"]
        assert moves == {"a": [0], "b": [1, 0], "c": [2, 1, 0]}

    asyncio.run(main())


def test_who_leaves_the_line_makes_room():
    async def main():
        turns, moves = Turns(3), []
        entered = asyncio.Event()

        async def wait(moved):
            async with turns.turn(moved):
                entered.set()

        async with turns.turn(lambda _: None):
            gone = asyncio.create_task(wait(lambda _: None))
            await asyncio.sleep(0)
            last = asyncio.create_task(wait(moves.append))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            assert moves == [2, 1]
            assert not entered.is_set()
        await last
        assert moves == [2, 1, 0]
        assert len(turns) == 0

    asyncio.run(main())


def test_a_turn_that_breaks_passes_on():
    async def main():
        turns = Turns(3)
        with pytest.raises(RuntimeError):
            async with turns.turn(lambda _: None):
                raise RuntimeError
        async with turns.turn(lambda _: None):
            pass

    asyncio.run(main())


def test_the_line_has_an_end():
    async def main():
        turns = Turns(0)
        async with turns.turn(lambda _: None):
            with pytest.raises(Refused) as refused:
                async with turns.turn(lambda _: None):
                    pass
            assert refused.value.status == 429
            assert len(turns) == 1

    asyncio.run(main())
