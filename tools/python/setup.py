"""`make wheel` and `make check-python` call this; libcleave must be where pkg-config finds it."""

import ast
import pathlib
import re
import subprocess

from setuptools import setup

def version():
    found = subprocess.run(["pkg-config", "--modversion", "cleave"], check=True, capture_output=True, text=True).stdout
    return re.fullmatch(r"[0-9.]+", found.strip()).group()


setup(
    name="cleave",
    version=version(),
    description="Image segmentation with learned graph cuts",
    long_description=ast.get_docstring(ast.parse(pathlib.Path("src/cleave/__init__.py").read_text())),
    long_description_content_type="text/plain",
    license="Apache-2.0",
    python_requires=">=3.9",
    package_dir={"": "src"},
    packages=["cleave"],
    package_data={"cleave": ["py.typed", "_native.pyi"]},
    install_requires=["numpy", "cffi>=1.15"],
    cffi_modules=["build_native.py:ffi"],
)
