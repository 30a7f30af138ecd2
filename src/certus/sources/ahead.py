"""Reading ahead on a thread: items of an iterator while the caller works on earlier ones."""

import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

Item = TypeVar("Item")

DEPTH = 2  # items that wait
POLL_SECONDS = 0.1  # within which a thread whose caller has left ends, and Ctrl-C is noticed


class _End:
    """What the thread puts last: nothing, or the error of the iterator."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def ahead(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Item]:
    """Yield the items of an iterator that a thread reads, at most ``depth`` of them ahead."""
    queue: Queue[Item | _End] = Queue(depth)
    left = threading.Event()

    def put(item: Item | _End) -> bool:
        while not left.is_set():
            try:
                queue.put(item, timeout=POLL_SECONDS)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put(item):
                    break
            end = _End()
        except BaseException as error:
            end = _End(error)
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
        put(end)

    thread = threading.Thread(target=read, name="certus read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = queue.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        left.set()
        thread.join()
