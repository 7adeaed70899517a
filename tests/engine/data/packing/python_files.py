#!/usr/bin/env python3
# Packs files that PIL, NumPy, h5py and tarfile have written, and compares every record with what these libraries read.
# Called by python_files_test.cpp: python_files.py DTENGINE, in an empty folder. Exit code 77 if a library is missing.
import io, json, os, struct, subprocess, sys, tarfile, zipfile

try:
    import h5py
    import numpy as np
    from PIL import Image
except ImportError:
    sys.exit(77)

engine = sys.argv[1]
random = np.random.default_rng(5)


def read_packed(path):
    """The description, and by name: record, label, position."""
    content = open(path, "rb").read()
    count, index, names, description, _ = struct.unpack("<5Q", content[8:48])
    entries = [struct.unpack("<QQIIQ", content[index + 32 * i : index + 32 * i + 32]) for i in range(count)]
    words = content[names:description].split(b"\0")[:-1]
    records = {word.decode(): (content[e[0] : e[0] + e[2]], e[3], i) for i, (word, e) in enumerate(zip(words, entries))}
    return json.loads(content[description:]), records


def pack(source, *options):
    result = subprocess.run([engine, "data", "pack", source, "-o", source + ".pack", *options], capture_output=True, text=True)
    assert result.returncode == 0, (source, result.stderr)
    return read_packed(source + ".pack")


def noise(mode, height=9, width=7):
    channels = {"RGB": 3, "RGBA": 4, "L": 1, "LA": 2}[mode]
    return Image.fromarray(random.integers(0, 256, (height, width, channels), dtype=np.uint8).squeeze(), mode)


def on_white(image):
    pixels = np.asarray(image.convert("RGBA")).astype(int)
    colour, opacity = pixels[..., :3], pixels[..., 3:]
    return ((colour * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)


def check_colour_files():
    os.makedirs("colour/a")
    for name, image in {"rgb": noise("RGB"), "rgba": noise("RGBA"), "palette": noise("RGB").quantize(40), "two_bits": noise("RGB").quantize(3)}.items():
        image.save(f"colour/a/{name}.png")
    noise("RGB").quantize(40).save("colour/a/clear.png", transparency=bytes(range(0, 240, 6)))
    noise("RGB").save("colour/a/interlaced.png", transparency=(1, 2, 3), interlace=1)
    noise("RGBA").save("colour/a/lossless.webp", lossless=True, exact=True)
    noise("RGB").save("colour/a/lossy.webp", quality=80)
    noise("RGB").save("colour/a/photo.jpg")
    os.makedirs("colour/b")  # a network needs two classes
    noise("RGB").save("colour/b/other.png")
    for name, (record, _, _) in pack("colour")[1].items():
        expected = on_white(Image.open("colour/" + name))
        assert record == expected.tobytes(), name


def check_grey_files():
    os.makedirs("grey/a")
    values = random.integers(0, 65536, (9, 7)).astype(np.uint16)
    noise("L").save("grey/a/grey.png")
    noise("LA").save("grey/a/alpha.png")
    noise("L").convert("1").save("grey/a/one_bit.png")
    Image.fromarray(values).save("grey/a/sixteen_bits.png")
    os.makedirs("grey/b")
    noise("L").save("grey/b/other.png")
    records = pack("grey")[1]
    assert records["a/sixteen_bits.png"][0] == ((values.astype(int) * 255 + 32767) // 65535).astype(np.uint8).tobytes()
    for name in ("grey", "alpha", "one_bit"):
        expected = on_white(Image.open(f"grey/a/{name}.png"))[..., 0]
        assert records[f"a/{name}.png"][0] == expected.tobytes(), name


images = random.integers(0, 256, (300, 16, 20, 3), dtype=np.uint8)
labels = random.integers(0, 5, 300)


def check_arrays(source, *options):
    description, records = pack(source, *options)
    row = lambda name: int(name.split("[")[1][:-1])
    for name, (record, label, _) in records.items():
        assert record == images[row(name)].tobytes() and label == labels[row(name)], (source, name)
    train = [row(name) for name, (_, _, position) in records.items() if position < description["train_samples"]]
    pixels = images[train].reshape(-1, 3)
    assert np.allclose(description["mean"], pixels.mean(0) / 255, rtol=0, atol=1e-13)
    assert np.allclose(description["deviation"], pixels.std(0) / 255, rtol=0, atol=1e-12)


def check_array_files():
    first = images.transpose(0, 3, 1, 2)
    np.savez("stored.npz", images=first, labels=labels)
    np.savez_compressed("deflated.npz", x=images, y=labels.astype(np.uint16))
    np.savez("unicode.npz", **{"bilder/größe": images, "art": labels})
    with zipfile.ZipFile("zip64.npz", "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, array in (("images", images), ("labels", labels)):
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)
    with h5py.File("chunked.h5", "w") as file:
        file.create_dataset("data", data=first, chunks=(11, 1, 16, 20), compression="gzip", shuffle=True)
        file["label"] = labels.astype(">i4")
    with h5py.File("latest.h5", "w", libver="latest") as file:
        file["group/x"], file["group/y"] = images, labels
    for source in ("stored.npz", "deflated.npz", "zip64.npz", "chunked.h5"):
        check_arrays(source)
    check_arrays("unicode.npz", "--images", "bilder/größe", "--labels", "art")
    check_arrays("latest.h5", "--images", "group/x", "--labels", "group/y")


def check_tar_files():
    for form, path in ((tarfile.PAX_FORMAT, "pax.tar"), (tarfile.GNU_FORMAT, "gnu.tar.gz")):
        with tarfile.open(path, "w:gz" if path.endswith("gz") else "w", format=form) as archive:
            for i in range(20):
                content = io.BytesIO()
                Image.fromarray(images[i]).save(content, "png")
                for ending, member in ((".png", content.getvalue()), (".cls", str(labels[i]).encode())):
                    info = tarfile.TarInfo("x" * 150 + f"/ünï{i}{ending}")
                    info.size = len(member)
                    archive.addfile(info, io.BytesIO(member))
        records = pack(path, "--allow-empty-classes")[1]
        assert len(records) == 20
        for name, (record, label, _) in records.items():
            i = int(name.split("ünï")[1][:-4])
            assert record == images[i].tobytes() and label == labels[i], name


check_colour_files()
check_grey_files()
check_array_files()
check_tar_files()
