"""The cache that huggingface_hub leaves after it fetched a small model and a file of a data set from a hub on this machine.

    python tools/goldens/hub_layout.py > crates/measure/tests/data/hub_layout.txt

A line a file below the cache: its path, a tab, where it leads (`-> ...`) or what it holds, as JSON. Then, on standard error,
whether huggingface_hub finds what another program put into the cache that is given as an argument.
"""

import hashlib
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = {
    "README.md": b"not wanted",
    "config.json": b"{}",
    "tokenizer.json": b'{"t": 1}',
    "model.safetensors": b"the weights, which lie apart",
    "pytorch_model.bin": b"the same once more",
    "onnx/model.onnx": b"not wanted",
}
TEXTS = {"data/deep/prose.txt": b"Some prose.\n"}
REPOSITORIES = {"owner/tiny": MODEL, "datasets/owner/texts": TEXTS}


def large(name):
    return name.endswith((".safetensors", ".bin"))


def etag(name, body):
    if large(name):
        return hashlib.sha256(body).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


class Hub(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, status, body, headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self):
        path = unquote(urlparse(self.path).path)
        for repository, files in REPOSITORIES.items():
            for name, body in files.items():
                if path == f"/apart/{etag(name, body)}":
                    return self.say(200, body, {})
                for revision in ("main", COMMIT):
                    if path == f"/{repository}/resolve/{revision}/{name}":
                        tag = f'"{etag(name, body)}"'
                        head = {"X-Repo-Commit": COMMIT, "ETag": tag}
                        if not large(name):
                            return self.say(200, body, head)
                        # The same server by another name is another host.
                        apart = f"http://localhost:{self.server.server_port}/apart/{etag(name, body)}"
                        head |= {"Location": apart, "X-Linked-Etag": tag, "X-Linked-Size": len(body)}
                        return self.say(302, b"", head)
        return self.say(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})

    do_HEAD = do_GET


def listing(root):
    for path in sorted(p for p in root.rglob("*") if p.is_symlink() or p.is_file()):
        holds = f"-> {os.readlink(path)}" if path.is_symlink() else path.read_text()
        print(path.relative_to(root).as_posix(), json.dumps(holds), sep="\t")


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HUB_DISABLE_XET": "1"}
    with tempfile.TemporaryDirectory() as root:
        os.environ["HF_HUB_CACHE"] = root
        import huggingface_hub as hub

        print(f"huggingface_hub {hub.__version__}", file=sys.stderr)
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            hub.hf_hub_download("owner/tiny", name)
        hub.hf_hub_download("owner/texts", "data/deep/prose.txt", repo_type="dataset")
        listing(Path(root))
    if len(sys.argv) > 1:
        cache = sys.argv[1]
        for repository in hub.scan_cache_dir(cache).repos:
            print(repository.repo_type, repository.repo_id, file=sys.stderr)
            revision = next(iter(repository.revisions))
            for file in sorted(revision.files, key=lambda file: file.file_name):
                name = file.file_path.relative_to(revision.snapshot_path).as_posix()
                found = hub.try_to_load_from_cache(repository.repo_id, name, cache_dir=cache, repo_type=repository.repo_type)
                print("  found" if isinstance(found, str) else "  NOT FOUND", name, file=sys.stderr)
            folder = hub.snapshot_download(
                repository.repo_id, repo_type=repository.repo_type, cache_dir=cache, local_files_only=True
            )
            print("  snapshot", folder, file=sys.stderr)
        print("warnings:", hub.scan_cache_dir(cache).warnings, file=sys.stderr)


if __name__ == "__main__":
    main()
