"""The type stubs say what there is: every class, its parameters with their defaults, and its methods."""

import ast
import inspect
from pathlib import Path

import pytest

import priory
import priory.sql

STUBS = Path(priory.__file__).with_suffix(".pyi")
CLASSES = {node.name: node for node in ast.parse(STUBS.read_text()).body if isinstance(node, ast.ClassDef)}


def test_everything_has_a_stub():
    nodes = ast.parse(STUBS.read_text()).body
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    values = {node.target.id for node in nodes if isinstance(node, ast.AnnAssign)}
    assert {*functions, *values, *(name for name in CLASSES if not name.startswith("_"))} == set(priory.__all__)
    assert (STUBS.parent / "py.typed").exists()


@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith("_") and name not in ("Explanation", "Picture", "Report", "Summary")])
def test_parameters_and_methods(name):
    real, methods, bases = getattr(priory, name), {}, [CLASSES[name]]
    while bases:
        node = bases.pop()
        bases += [CLASSES[base.id] for base in node.bases if getattr(base, "id", None) in CLASSES]
        methods = {**{item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}, **methods}
    for method, stub in methods.items():
        names = [argument.arg for argument in stub.args.args + stub.args.kwonlyargs if argument.arg not in ("self", "cls")]
        is_property = any(getattr(decorator, "id", None) == "property" for decorator in stub.decorator_list)
        assert isinstance(getattr(real, method), property) == is_property, method
        if is_property:
            continue
        found = inspect.signature(getattr(real, method)).parameters
        found = [parameter for parameter in found if parameter not in ("self", "choices", "parameters")]
        assert names == found, method
    defaults = [ast.literal_eval(default) for default in methods["__init__"].args.kw_defaults + methods["__init__"].args.defaults]
    assert defaults == [p.default for p in inspect.signature(real).parameters.values()]
    public = {method for method, _ in inspect.getmembers(real, inspect.isfunction) if not method.startswith("_")}
    inherited = {"get_params", "set_params", "score", "get_metadata_routing", "fit_transform", "set_output", "get_feature_names_out"}
    inherited |= {method for method in public if method.startswith("set_") and method.endswith("_request")}
    assert public - inherited <= set(methods)


def test_sql():
    stub = next(node for node in ast.parse(STUBS.with_name("sql.pyi").read_text()).body if isinstance(node, ast.FunctionDef))
    names = [argument.arg for argument in stub.args.args + stub.args.kwonlyargs]
    assert [*names, "options"] == list(inspect.signature(priory.sql.fit).parameters)
