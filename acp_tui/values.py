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
        names = [name for name, kind in kinds.items() if not str(kind).removeprefix("typing.").startswith("ClassVar")]
        own = dict(cls.__dict__)
        defaults = {name: own.pop(name) for name in names if name in own}
        for name in ("__dict__", "__weakref__"):
            own.pop(name, None)
        methods = _Frozen if options.get("frozen") else _Value
        if own.get("__hash__", ...) is None:
            own["__hash__"] = methods.__hash__  # not Python's, which comes with its own `__eq__`
        if not options.get("eq", True):
            own |= {"__eq__": object.__eq__, "__hash__": object.__hash__}
        if not options.get("repr", True):
            own["__repr__"] = object.__repr__
        own["__qualname__"] = cls.__qualname__
        own["__slots__"] = (*names, "__weakref__") if options.get("weakref_slot") else tuple(names)
        own["__match_args__"] = tuple(name for name in names if _of(defaults.get(name), "init", True))
        own["__dataclass_fields__"] = _Fields(defaults)
        own["__layout__"] = names, defaults
        bases = [base for base in cls.__bases__ if base is not object]
        return type(cls)(cls.__name__, (*bases, methods), own)

    def _of(default, attribute, otherwise):
        """What `field(...)` sets for this attribute."""
        return getattr(default, attribute) if isinstance(default, dataclasses.Field) else otherwise

    def _names(cls, attribute):
        """The fields that count for `compare` or `repr`."""
        names, defaults = cls.__layout__
        return [name for name in names if _of(defaults.get(name), attribute, True)]

    class _Compared:
        """What gets the values that are compared, created on first use."""

        def __get__(self, _, cls):
            names = _names(cls, "compare")
            cls.__compared__ = attrgetter(*names) if names else staticmethod(lambda _: ())
            return cls.__compared__

    class _Value:
        """The methods of all classes."""

        __slots__ = ()
        __compared__ = _Compared()

        def __init__(self, *args, **kwargs):
            cls = type(self)
            cls.__init__ = _compiled_init(cls, *cls.__layout__)
            cls.__init__(self, *args, **kwargs)

        def __getstate__(self):
            return [getattr(self, name) for name in self.__layout__[0]]

        def __setstate__(self, state):
            for name, value in zip(self.__layout__[0], state, strict=True):
                object.__setattr__(self, name, value)

        def __repr__(self):
            shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in _names(type(self), "repr")])
            return f"{type(self).__qualname__}({shown})"

        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            compared = self.__compared__
            return compared(self) == compared(other)

    class _Frozen(_Value):
        """Those of classes whose values don't change."""

        __slots__ = ()

        def __hash__(self):
            return hash(self.__compared__(self))

        def __setattr__(self, name, value):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name):
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
            kept = {"__module__": cls.__module__, "__doc__": cls.__name__, "__annotations__": cls.__annotations__}
            twin = type(cls.__name__, (), {**kept, **self._defaults})
            fields = dataclasses.dataclass(init=False, repr=False, eq=False)(twin).__dataclass_fields__
            cls.__dataclass_fields__ = fields
            return fields
