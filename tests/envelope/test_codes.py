"""The numbers of envelopes: told apart from payloads, and each with its entry in a table."""

from __future__ import annotations

from npser.envelope.checksum import CHECKSUMS
from npser.envelope.codes import ChecksumCode, CompressionCode, EnvelopeCode
from npser.envelope.layers import _LAYERS
from npser.envelope.methods import METHODS
from npser.tags import VERSION


def test_the_second_byte_tells_envelopes_from_payloads() -> None:
    assert {chr(code) for code in EnvelopeCode} == set("KSZ")
    assert VERSION not in set(EnvelopeCode)


def test_every_code_is_read_and_written() -> None:
    assert set(_LAYERS) == set(EnvelopeCode) - {EnvelopeCode.SEALED}  # which is opened with its key alone
    assert {method.code for method in METHODS.values()} == set(CompressionCode)
    assert {way.code for way in CHECKSUMS.values()} == set(ChecksumCode)


def test_no_flipped_bit_makes_one_envelope_another_or_a_payload() -> None:
    codes = [VERSION, *EnvelopeCode]
    assert min((one ^ other).bit_count() for one in codes for other in codes if one is not other) > 1
