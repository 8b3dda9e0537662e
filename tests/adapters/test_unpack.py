"""Only what Python reads of a wheel is unpacked, and nothing leaves the folder."""

import zipfile
from pathlib import Path

import pytest

from truehit.adapters.vllm.problems import BuildError
from truehit.adapters.vllm.unpack import is_kept, unpack_wheel

MEMBERS = {
    "vllm/__init__.py": b"",
    "vllm/v1/core/block_pool.py": b"x = 1\n",
    "vllm/_C.abi3.so": b"\x7fELF",
    "vllm/kernels/big.cubin": b"\0",
    "vllm/config/table.json": b"{}",
    "vllm/chat/template.jinja": b"{{ x }}",
    "vllm/vllm_flash_attn/": b"",
    "vllm-1.2.3.dist-info/METADATA": b"Name: vllm\n",
    "vllm-1.2.3.dist-info/RECORD": b"",
    "../outside.py": b"",
}


def wheel(folder: Path, members: dict[str, bytes]) -> Path:
    file = folder / "vllm-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    return file


def test_modules_metadata_and_data_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "into"
    assert unpack_wheel(wheel(tmp_path, MEMBERS), target) == 6
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {
        "vllm/__init__.py",
        "vllm/v1/core/block_pool.py",
        "vllm/config/table.json",
        "vllm/chat/template.jinja",
        "vllm-1.2.3.dist-info/METADATA",
        "vllm-1.2.3.dist-info/RECORD",
    }
    assert not (tmp_path / "outside.py").exists()


@pytest.mark.parametrize("name", ["/etc/x.py", "a/../../x.py", "a/b.so", "a/b.pyc", "a.py/"])
def test_what_is_left_out(name: str) -> None:
    assert not is_kept(name)


def test_a_wheel_without_a_module_is_refused(tmp_path: Path) -> None:
    file = wheel(tmp_path, {"vllm/_C.abi3.so": b"\x7fELF"})
    with pytest.raises(BuildError, match=f"^{file.name} holds no Python file$"):
        unpack_wheel(file, tmp_path / "into")


def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "vllm.whl"
    file.write_bytes(b"not a zip")
    with pytest.raises(BuildError, match=r"^vllm\.whl cannot be unpacked"):
        unpack_wheel(file, tmp_path / "into")
