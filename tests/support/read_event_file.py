"""Reads TensorBoard event files and prints them as one JSON array of events, each with wall_time, step, version or values.

Shares no code with dtctl: python3-crc32c computes the checksums, and protoc decodes the messages without their description, so
field numbers and types are those of the bytes. Ends with an error if a record is torn or a checksum is wrong.
"""
import json
import re
import struct
import subprocess
import sys

import crc32c


def masked(data):
    crc = crc32c.crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        head = data[at:at + 8]
        (length,) = struct.unpack("<Q", head)
        (head_crc,) = struct.unpack("<I", data[at + 8:at + 12])
        assert head_crc == masked(head), f"wrong checksum of the length at byte {at}"
        message = data[at + 12:at + 12 + length]
        assert len(message) == length, f"torn record at byte {at}"
        (crc,) = struct.unpack("<I", data[at + 12 + length:at + 16 + length])
        assert crc == masked(message), f"wrong checksum of the message at byte {at}"
        yield message
        at += 16 + length


def varint(number):
    text = bytearray()
    while number >= 0x80:
        text.append((number & 0x7F) | 0x80)
        number >>= 7
    text.append(number)
    return bytes(text)


def tree(lines):
    """The output of protoc --decode_raw as lists of (field, value); a value is text or such a list."""
    fields = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        nested = re.fullmatch(r"(\d+) \{", line)
        if nested:
            fields.append((int(nested[1]), tree(lines)))
        else:
            field, value = line.split(": ", 1)
            fields.append((int(field), value))
    return fields


def decode(messages):
    together = b"".join(b"\x0a" + varint(len(m)) + m for m in messages)  # one message whose field 1 is each of them
    shown = subprocess.run(["protoc", "--decode_raw"], input=together, capture_output=True, check=True).stdout.decode()
    return [event for _, event in tree(iter(shown.splitlines()))]


def double(text):
    return struct.unpack("<d", int(text, 16).to_bytes(8, "little"))[0]


def single(text):
    return struct.unpack("<f", int(text, 16).to_bytes(4, "little"))[0]


def value_of(fields):
    value = dict(fields)
    plugin = dict(dict(value[9])[1])[1] if 9 in value else None
    assert set(value) <= {1, 2, 9}, value
    return {"tag": json.loads(value[1]), "value": single(value[2]), "plugin": plugin and json.loads(plugin)}


def event_of(fields):
    event = dict(fields)
    assert set(event) <= {1, 2, 3, 5}, event
    found = {"wall_time": double(event[1]), "step": int(event.get(2, 0))}
    if 3 in event:
        found["version"] = json.loads(event[3])
    if 5 in event:
        assert all(field == 1 for field, _ in event[5])
        found["values"] = [value_of(value) for _, value in event[5]]
    return found


with open(sys.argv[1], "rb") as file:
    print(json.dumps([event_of(event) for event in decode(list(records(file.read())))]))
