"""A `dataclass` decorator like the standard one, but for slotted classes it takes a tenth of the time.

The standard decorator compiles six methods for each class. A start creates hundreds of classes, most of them without
instances before the first prompt, and spent a quarter of its time on that. Here, classes share their methods, and a
class's `__init__` is compiled for its first instance. The values themselves are defined in other modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    import inspect
    from operator import attrgetter

    def dataclass(cls=None, **options):
        """Like `dataclasses.dataclass`, but a class with slots must not inherit fields."""
        if not options.get("slots"):
            return dataclasses.dataclass(cls, **options)
        return lambda cls: _value_class(cls, options)

    def _value_class(cls, options):
        kinds = inspect.get_annotations(cls)
        names = [name for name, kind in kinds.items() if not _is_class_variable(kind)]
        own = dict(cls.__dict__)
        defaults = {name: own.pop(name) for name in names if name in own}
        for name in ("__dict__", "__weakref__"):
            own.pop(name, None)
        if own.get("__hash__", ...) is None:
            del own["__hash__"]  # Python's, because of its own `__eq__`
        namespace = {**_methods(names, defaults, options), **own}
        namespace["__qualname__"] = cls.__qualname__
        namespace["__slots__"] = (*names, "__weakref__") if options.get("weakref_slot") else tuple(names)
        namespace["__match_args__"] = tuple(name for name in names if _of(defaults.get(name), "init", True))
        return type(cls)(cls.__name__, cls.__bases__, namespace)

    def _is_class_variable(kind):
        return str(kind).removeprefix("typing.").startswith("ClassVar")

    def _of(default, attribute, otherwise):
        """What `field(...)` sets for this attribute."""
        return getattr(default, attribute) if isinstance(default, dataclasses.Field) else otherwise

    def _methods(names, defaults, options):
        def __init__(self, *args, **kwargs):
            cls = type(self)
            cls.__init__ = _compiled_init(cls, names, defaults)
            cls.__init__(self, *args, **kwargs)

        def __getstate__(self):
            return [getattr(self, name) for name in names]

        def __setstate__(self, state):
            for name, value in zip(names, state, strict=True):
                object.__setattr__(self, name, value)

        methods = {
            "__init__": __init__,
            "__getstate__": __getstate__,
            "__setstate__": __setstate__,
            "__dataclass_fields__": _Fields(defaults),
        }
        is_frozen = options.get("frozen", False)
        if is_frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if options.get("repr", True):
            methods["__repr__"] = _repr_of([name for name in names if _of(defaults.get(name), "repr", True)])
        if options.get("eq", True):
            compared = [name for name in names if _of(defaults.get(name), "compare", True)]
            methods["__eq__"], of_values = _eq_and_hash_of(compared)
            methods["__hash__"] = of_values if is_frozen else None
        return methods

    def _repr_of(names):
        def __repr__(self):
            shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
            return f"{type(self).__qualname__}({shown})"

        return __repr__

    def _eq_and_hash_of(names):
        compared = attrgetter(*names) if names else lambda _: ()

        def __eq__(self, other):
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):
            return hash(compared(self))

        return __eq__, __hash__

    def _refuse_to_set(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    _MISSING = dataclasses.MISSING

    def _compiled_init(cls, names, defaults):
        """Compile an `__init__` that writes into the slots."""
        scope = {f"set_{name}": getattr(cls, name).__set__ for name in names} | {"MISSING": _MISSING}
        parameters, lines = ["self"], []
        for name in names:
            default = defaults.get(name, _MISSING)
            factory = _of(default, "default_factory", _MISSING)
            is_given, default = _of(default, "init", True), _of(default, "default", default)
            scope[f"default_{name}"], scope[f"make_{name}"] = default, factory
            value = name
            if factory is not _MISSING:
                value = f"make_{name}() if {name} is MISSING else {name}" if is_given else f"make_{name}()"
                parameters += [f"{name}=MISSING"] if is_given else []
            elif is_given:
                parameters.append(name if default is _MISSING else f"{name}=default_{name}")
            elif default is _MISSING:
                continue  # `__post_init__` sets it
            else:
                value = f"default_{name}"
            lines.append(f"set_{name}(self, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        body = "".join(f"\n    {line}" for line in lines or ["pass"])
        exec(f"def __init__({', '.join(parameters)}):{body}", scope)
        scope["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return scope["__init__"]

    class _Fields:
        """The standard library's description of the fields, created on first use."""

        def __init__(self, defaults):
            self._defaults = defaults

        def __get__(self, _, cls):
            kept = {name: getattr(cls, name) for name in ("__module__", "__doc__", "__annotations__")}
            twin = type(cls.__name__, (), {**kept, **self._defaults})
            fields = dataclasses.dataclass(init=False, repr=False, eq=False)(twin).__dataclass_fields__
            cls.__dataclass_fields__ = fields
            return fields
