"""``certus export``: a model file as ONNX, or its certificate as a script."""

import argparse

from ..exceptions import MissingExtraError, UsageError
from . import output, tables
from .exit_codes import OK


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "export",
        help="a model file as ONNX, or its certificate as a script",
        description="Write a model as ONNX (linear, logistic, softmax, ordinal and k-means models "
        "with their scaling steps), or a script that checks its certificate with NumPy alone.",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="a model file")
    parser.add_argument("--onnx", help="the ONNX file to write")
    parser.add_argument("--check", help="the script to write, e.g. check.py")
    parser.add_argument("--force", action="store_true", help="overwrite files")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load the model and write what was asked for."""
    from ..model_files import read
    from ..model_files.document import certificate_of

    if args.onnx is None and args.check is None:
        raise UsageError("say what to write: --onnx FILE or --check FILE")
    for path in filter(None, (args.onnx, args.check)):
        tables.require_new(path, args.force)
    model = read(args.model).model
    if args.onnx is not None:
        try:
            import onnx  # noqa: F401
        except ImportError as error:
            raise MissingExtraError('ONNX needs: pip install "certus[onnx]"') from error
        from ..model_files.onnx_export import export_onnx

        export_onnx(model, args.onnx)
        output.written(args.onnx)
    if args.check is not None:
        certificate = certificate_of(model)
        if certificate is None:
            raise UsageError(f"{args.model} holds no certificate, so there is nothing to check")
        certificate.export(args.check)
        output.written(args.check)
    return OK
