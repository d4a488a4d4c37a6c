"""Python imports this by itself where its folder leads PYTHONPATH: so faults get into a server unchanged."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[3])

sys.path.insert(0, ROOT)
try:
    from tests.faults.inside.faults import install
finally:
    sys.path.remove(ROOT)  # the root has folders whose names are common

install()
