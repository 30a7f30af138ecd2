"""Graphs of ONNX's core operators in float64, node by node.

A ``Graph`` collects nodes and constants; every method adds a node and returns the name of its
output. ``finished`` makes the model that ONNX Runtime and others run.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

OPSET = 18  # the first with axes of reductions as inputs throughout; widely supported
IR_VERSION = 8  # that goes with it


class Graph:
    """Nodes from the input "X", (n, n_columns) float64, to named outputs."""

    def __init__(self, n_columns: int):
        from onnx import TensorProto, helper

        self._helper = helper
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._input = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, n_columns])

    def constant(self, values: np.ndarray) -> str:
        """A constant; text is stored as strings."""
        from onnx import TensorProto, helper, numpy_helper

        name = f"constant_{len(self._constants)}"
        if values.dtype.kind in "UO":
            texts = np.array([str(v).encode() for v in values.ravel()], dtype=object)
            tensor = helper.make_tensor(name, TensorProto.STRING, values.shape, texts)
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(values), name)
        self._constants.append(tensor)
        return name

    def node(self, operator: str, *inputs: str, **attributes: int) -> str:
        """The output of one operator."""
        name = f"{operator.lower()}_{len(self._nodes)}"
        node = self._helper.make_node(operator, list(inputs), [name], name=name)
        node.attribute.extend(self._helper.make_attribute(k, v) for k, v in attributes.items())
        self._nodes.append(node)
        return name

    def with_constant(self, operator: str, value: str, constant: object) -> str:
        """``operator(value, constant)`` in float64, broadcast."""
        return self.node(operator, value, self.constant(np.asarray(constant, dtype=float)))

    def affine(self, X: str, W: np.ndarray, b: np.ndarray) -> str:
        """X W + b."""
        return self.with_constant("Add", self.with_constant("MatMul", X, W), b)

    def output(self, name: str, value: str, kind: str, shape: list[int | None]) -> None:
        """Name a value as an output. ``kind``: "DOUBLE", "INT64", "STRING" or "BOOL"."""
        from onnx import TensorProto, helper

        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"output_{name}"))
        element = getattr(TensorProto, kind)
        self._outputs.append(helper.make_tensor_value_info(name, element, shape))

    def finished(self, description: str) -> "ModelProto":
        """The model, checked by ONNX's own checker."""
        from onnx import checker, helper

        from .. import __version__

        graph = helper.make_graph(
            self._nodes, "certus", [self._input], self._outputs, self._constants
        )
        model = helper.make_model(
            graph, producer_name="certus", producer_version=__version__, doc_string=description,
            opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        )  # fmt: skip
        checker.check_model(model, full_check=True)
        return model
