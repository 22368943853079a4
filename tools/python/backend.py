"""What pip calls: setuptools, once it is known that there is a libcleave to compile against."""

import subprocess
import sys

HOW = """pkg-config knows no libcleave here. At the top of cleave's source

    make wheel && pip install build/wheel/*.whl

makes a package with the library in it, and installs that; or `make install` the library first."""


def get_requires_for_build_wheel(config_settings=None):
    try:
        subprocess.run(["pkg-config", "--exists", "cleave"], check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit(HOW)
    return ["setuptools", "wheel", "cffi>=1.15"]


get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(folder, config_settings=None, metadata_folder=None):
    from setuptools import build_meta

    return build_meta.build_wheel(folder, config_settings, metadata_folder)


def build_sdist(folder, config_settings=None):
    from setuptools import build_meta

    return build_meta.build_sdist(folder, config_settings)
