"""Pictures and documents are made of bytes, of base64, or of a URL."""

from __future__ import annotations

import base64

import msgspec
import pytest

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS
from streamparse.writing.parts import Message

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
BEGINNINGS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(8),
    "image/gif": b"GIF89a" + bytes(8),
    "image/webp": b"RIFF\x10\0\0\0WEBPVP8 ",
    "image/bmp": b"BM" + bytes(8),
    "image/tiff": b"II*\0" + bytes(8),
    "image/avif": b"\0\0\0\x20ftypavif",
    "image/heic": b"\0\0\0\x20ftypheic",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_bytes_of_a_picture_show_its_media_type(kind: str) -> None:
    image = sp.Image(BEGINNINGS[kind])
    assert image == sp.Image(base64.b64encode(BEGINNINGS[kind]).decode(), kind)


@pytest.mark.parametrize("data", [PNG, bytearray(PNG), memoryview(PNG)])
def test_bytes_of_any_type_are_taken(data: bytes) -> None:
    assert sp.Image(data).address == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def test_the_media_type_that_is_given_stands() -> None:
    assert sp.Image(b"\0\1\2\3", "image/x-own").media_type == "image/x-own"
    assert sp.Document(b"a,b\n", "text/csv").media_type == "text/csv"


def test_the_bytes_of_a_document_show_that_it_is_a_pdf_or_text() -> None:
    assert sp.Document(b"%PDF-1.7\n\xff").media_type == "application/pdf"
    assert sp.Document("Grüße".encode()).media_type == "text/plain"


@pytest.mark.parametrize("data", [b"", b"\0\1\2\3", b"some text", b"%PDF-1.7"])
def test_bytes_that_are_no_picture_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="give its media_type"):
        sp.Image(data)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04\xff", PNG])
def test_bytes_that_are_no_known_document_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="give its media_type"):
        sp.Document(data)


def test_base64_and_urls_are_taken_as_they_are() -> None:
    assert sp.Image("eA==", "image/png").data == "eA=="
    assert sp.Image(url="https://example.org/a.png").address == "https://example.org/a.png"
    assert sp.Image("eA==").media_type == ""


@pytest.mark.parametrize("part", [sp.Image(PNG), sp.Document(b"%PDF-"), sp.Image(url="https://example.org/a.png")])
def test_a_part_survives_json_and_says_its_kind(part: sp.Image | sp.Document) -> None:
    kind = sp.Image | sp.Document
    assert msgspec.json.decode(msgspec.json.encode(part), type=kind) == part


@pytest.mark.parametrize("provider", ADAPTERS)
def test_each_provider_gets_the_picture(provider: str) -> None:
    written = ADAPTERS[provider].write_messages([Message("user", [sp.Image(PNG)])], [])
    assert base64.b64encode(PNG).decode() in str(written)
