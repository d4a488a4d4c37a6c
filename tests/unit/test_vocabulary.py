"""The shipped vocabulary is the published one, and the encoding built from it needs no network."""

from __future__ import annotations

import hashlib

import pytest

from pinfold.context import vocabulary


def test_shipped_vocabulary_rebuilds_the_published_file_byte_for_byte() -> None:
    rebuilt = vocabulary.published(vocabulary.shipped())
    assert hashlib.sha256(rebuilt).hexdigest() == vocabulary.SHA256


def test_a_packed_vocabulary_unpacks_to_itself() -> None:
    tokens = [bytes([value]) for value in range(256)] + [b" the", b"\n" * 128, "刷新".encode()]
    assert vocabulary.unpack(vocabulary.pack(tokens)) == tokens


def test_parsing_inverts_publishing() -> None:
    tokens = [b"!", b'"', b" the", "é".encode()]
    assert vocabulary.parse(vocabulary.published(tokens)) == tokens


def test_a_file_with_a_gap_in_its_ranks_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 2 stands where 1"):
        vocabulary.parse(b"IQ== 0\nIg== 2\n")


def test_packed_vocabulary_stays_under_one_megabyte() -> None:
    assert len(vocabulary.pack(vocabulary.shipped())) < 1_000_000


def test_encoding_gives_the_known_token_ids() -> None:
    encoding = vocabulary.load()
    assert encoding.encode_ordinary("tiktoken is great!") == [83, 8251, 2488, 382, 2212, 0]
    assert encoding.encode("<|endoftext|>", allowed_special="all") == [199_999]
    assert encoding.n_vocab == 200_019
