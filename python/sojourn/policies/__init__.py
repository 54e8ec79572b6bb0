"""Policies: small networks that decide what a flow does, as training leaves them in a file.

A file is JSON, with the matrices of the layers, or ONNX. It may say what its policy sees and sets, with the keys that an agent
has in a scenario, so that ``tcp = { policy = "mine.onnx" }`` is enough.
"""

from sojourn.policies.model import Layer, Policy
from sojourn.policies.reading import ENDINGS, read
from sojourn.policies.writing import write

__all__ = ["ENDINGS", "Layer", "Policy", "read", "write"]
