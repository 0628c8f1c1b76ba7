"""Turns a lock into a bill of materials: CycloneDX 1.6 JSON, the same bytes for the same lock."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: *; *([^\\\n]+?))?[ \\]*$")


def bill_of_materials(lock: str, version: str) -> str:
    """The packages of a lock with their digests, as the parts of this version."""
    components: list[dict[str, object]] = []
    for line in lock.splitlines():
        if pin := _PIN.match(line):
            name, pinned, marker = pin.groups()
            purl = f"pkg:pypi/{name}@{pinned}"
            component: dict[str, object] = {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": pinned,
                "purl": purl,
                "externalReferences": [],
            }
            if marker:
                component["properties"] = [{"name": "python:marker", "value": marker.strip()}]
            components.append(component)
        elif digest := re.search("--hash=sha256:([0-9a-f]{64})", line):
            # One package has many files; a reference for each says its digest.
            hashes = [{"alg": "SHA-256", "content": digest[1]}]
            reference = {"type": "distribution", "url": str(components[-1]["purl"])}
            found = components[-1]["externalReferences"]
            assert isinstance(found, list)  # noqa: S101 - made above
            found.append({**reference, "hashes": hashes})
    product = f"pkg:pypi/stratwright@{version}"
    root = {"type": "application", "bom-ref": product, "name": "stratwright", "version": version}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**root, "purl": product}},
        "components": components,
        "dependencies": [{"ref": product, "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return json.dumps(document, indent=1) + "\n"


def main() -> int:
    """Read the lock, write the bill."""
    lock, out = Path(sys.argv[1]), Path(sys.argv[2])
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "bot/__init__.py").read_text())
    if version is None:
        raise SystemExit("bot/__init__.py has no version")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(bill_of_materials(lock.read_text(), version[1]))
    print(f"sbom: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
