"""Inference for any fitted model: ``certus.inference(pipeline_or_model, X, y)``."""

from .any_model import infer

__all__ = ["infer"]
