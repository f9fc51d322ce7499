"""Preview images: a small picture of a picture, a plain tile for any other file."""

import io
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

if TYPE_CHECKING:
    from PIL import Image

_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_LARGEST_FILE = 64 * 1024**2
_SHOWN_LETTERS = 5
_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,
    ArithmeticError,
    LookupError,
    EOFError,
    TypeError,
    struct.error,
)


class Thumbnails:
    """Makes preview images.

    Args:
        pixels: longest side, in pixels.

    """

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels

    async def of(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview of a stored file.

        Args:
            path: where it lies.
            filename: its name; the extension is written on the tile of a file that is no picture.

        """
        return await run_in_threadpool(self.draw, path, filename)

    def draw(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview; pictures that cannot be read get the plain tile."""
        if path.stat().st_size <= _LARGEST_FILE:
            try:
                return self.picture(path)
            except _UNREADABLE:
                return self.tile(filename)
        return self.tile(filename)

    def picture(self, path: Path) -> bytes:
        """Return a picture made small enough.

        Raises:
            OSError: the file is no picture; broken ones raise others of ``_UNREADABLE``.

        """
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
                raise ValueError("the picture unpacks to more than can be handled")
            image.thumbnail((self.pixels, self.pixels))
            return _png(image.convert("RGBA"))

    def tile(self, filename: str) -> bytes:
        """Return a plain tile with the file's extension on it."""
        from PIL import Image, ImageDraw  # noqa: PLC0415 - as above

        extension = Path(filename).suffix[1:].upper()[:_SHOWN_LETTERS]
        side = self.pixels
        image = Image.new("RGBA", (side, side), "#eef1f4")
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, side - 1, side - 1), outline="#9aa5b1")
        if extension.isascii():
            pen.text((side // 3, side // 2), extension, fill="#52606d")
        return _png(image)


def _png(image: "Image.Image") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
