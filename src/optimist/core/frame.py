# mypy: disable-error-code="misc, no-untyped-call, override, untyped-decorator"
"""Frames: named tuples of arrays and numbers, which compiled functions hand on as one pointer.

Numba passes a named tuple field by field, and seven numbers for every array. With sixty arrays that
is what most of the compiler's time, and of a call from Python, would go into; and the compiler
would count references to each array wherever a tuple is taken apart. A frame is a block of words,
eight bytes each, that compiled code reads by the names of the fields:

    a number    one word
    an array    its address and its shape; it has to be C-contiguous
    a tuple     its own fields, one after the other
    a function  the address of a function of the tuple it stands in, given by its name
                ``module:function``; it is called by `call`, or with one more argument by
                `call_with`. Without a name it is 0: what a learner never calls is not compiled for
                it

An array read from a frame is borrowed: the caller keeps the tuple alive, as Python does during a
call. So no references are counted. Frames are read-only, and what they point to is not.
"""

import struct
from functools import cache
from importlib import import_module
from inspect import signature
from itertools import accumulate
from operator import index
from typing import Any, TypeVar, cast
from weakref import ref

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array

from optimist.digests import digest

_DOUBLE, _BITS = struct.Struct("=d"), struct.Struct("=q")


class FrameType(types.Type):
    """The type of a frame.

    Attributes
    ----------
    fields
        The types of the fields by their names.
    offsets
        At which word each field begins.
    words
        How many words a frame of this type takes.
    """

    def __init__(self, kind: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.fields = dict(fields)
        ends = list(accumulate(map(_words, self.fields.values()), initial=0))
        self.offsets = dict(zip(self.fields, ends, strict=False))
        self.words = ends[-1]
        # Numba mangles the name into that of every function: the whole of it would take pages.
        super().__init__(name=f"{kind}_{digest(repr(fields))[:12]}")


def _words(kind: Any) -> int:
    if isinstance(kind, FrameType):
        return kind.words
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


class Frame:
    """A named tuple as compiled code takes it; it keeps the tuple alive."""

    __slots__ = ("_numba_type_", "address", "fields", "words")

    def __init__(self, fields: Any) -> None:
        words: list[int] = []
        self._numba_type_ = kind = _lay_out(fields, words)
        for name, value in zip(fields._fields, fields, strict=True):
            if isinstance(value, str):
                words[kind.offsets[name]] = _address(value, kind)
        self.words = np.array(words, dtype=np.int64)
        self.address = self.words.ctypes.data
        self.fields = fields


T = TypeVar("T")


def frame(fields: T) -> T:
    """A named tuple as a frame, to be handed to several compiled functions; to mypy, the tuple."""
    return cast(T, Frame(fields))


_TYPES: dict[tuple[Any, ...], FrameType] = {}


def _lay_out(fields: Any, words: list[int]) -> FrameType:
    """Append the words of a named tuple; its type."""
    kinds: list[Any] = [type(fields)]
    for value in fields:
        if isinstance(value, np.ndarray):
            flags = value.flags
            if not flags.c_contiguous:
                raise ValueError(f"arrays must be C-contiguous; got strides {value.strides}")
            kinds.append((value.dtype, value.ndim, flags.writeable))
            words.append(_data_of(value))
            words.extend(value.shape)
        elif isinstance(value, tuple):
            kinds.append(_lay_out(value, words))
        elif isinstance(value, float):
            kinds.append(float)
            words.append(_BITS.unpack(_DOUBLE.pack(value))[0])
        elif isinstance(value, str):  # the name of a function, whose address `Frame` writes
            kinds.append(int)
            words.append(0)
        else:
            kinds.append(bool if isinstance(value, bool | np.bool_) else int)
            words.append(int(value) if isinstance(value, np.bool_) else index(value))
    key = tuple(kinds)
    found = _TYPES.get(key)
    if found is None:
        named = zip(fields._fields, map(_type_of, fields, kinds[1:]), strict=True)
        found = _TYPES[key] = FrameType(type(fields).__name__, tuple(named))
    return found


_DATA: dict[int, tuple[ref[Any], int]] = {}
"""The addresses of arrays met before, by their ids: NumPy takes long to tell them."""

MOST_KNOWN = 4096
"""How many addresses are kept; then they are forgotten."""


def _data_of(array: Any) -> int:
    """The address of an array's data. It does not change: NumPy resizes no array with a weakref."""
    known = _DATA.get(id(array))
    if known is not None and known[0]() is array:
        return known[1]
    if len(_DATA) >= MOST_KNOWN:
        _DATA.clear()
    address: int = array.ctypes.data
    _DATA[id(array)] = ref(array), address
    return address


def _type_of(value: Any, kind: Any) -> Any:
    """The type of a field."""
    if isinstance(kind, FrameType):
        return kind
    plain = {float: types.float64, bool: types.boolean, int: types.int64}
    return plain[kind] if kind in plain else typeof(value)


@cache
def _address(name: str, kind: FrameType) -> int:
    """The address of a function of a frame, ``module:function``, which returns nothing."""
    if not name:
        return 0
    module, _, function = name.partition(":")
    import_module(module)
    dispatcher = APART[module, function]
    _, *others = signature(dispatcher.py_func).parameters.values()
    return address_of(dispatcher, (kind, *(_ARGUMENTS[p.annotation] for p in others)))


APART: dict[tuple[str, str], Any] = {}
"""The functions that are compiled `apart`, by module and name."""

_ARGUMENTS = {int: types.int64, np.random.Generator: types.npy_rng}


def address_of(dispatcher: Any, kinds: tuple[Any, ...]) -> int:
    """The address of a function for arguments of these types, compiled if it was not."""
    dispatcher.compile(kinds)
    found = dispatcher.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def call_function(context: Any, builder: Any, function: Any, signature: Any, given: Any) -> Any:
    """Call a compiled function; its errors are passed on."""
    convention, kinds, result = context.call_conv, signature.args, signature.return_type
    status, out = convention.call_function(builder, function, result, kinds, given)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return out


def _call(_: Any, address: Any, frame: Any) -> Any:
    return types.none(address, frame), _call_there


def _call_with(_: Any, address: Any, frame: Any, given: Any) -> Any:
    return types.none(address, frame, types.unliteral(given)), _call_there


def _call_there(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    inner = types.none(*signature.args[1:])
    kind = context.call_conv.get_function_type(types.none, inner.args)
    function = builder.inttoptr(values[0], kind.as_pointer())
    call_function(context, builder, function, inner, values[1:])
    return context.get_dummy_value()


call: Any = intrinsic(_call)
"""``call(address, frame)``, in compiled code: call the function there."""

call_with: Any = intrinsic(_call_with)
"""``call_with(address, frame, number)``, or with a generator of random numbers."""


register_model(FrameType)(models.OpaqueModel)


@unbox(FrameType)
def _unbox(kind: FrameType, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(obj, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer)


@infer_getattr
class _FrameAttributes(AttributeTemplate):
    key = FrameType

    def generic_resolve(self, kind: FrameType, name: str) -> Any:
        return kind.fields.get(name)


@lower_getattr_generic(FrameType)
def _read(context: Any, builder: Any, frame: FrameType, pointer: Any, name: str) -> Any:
    """A field of a frame: a number, an array without an owner, or the frame of a tuple."""
    kind = frame.fields[name]
    words = builder.bitcast(pointer, cgutils.intp_t.as_pointer())
    place = cgutils.gep(builder, words, frame.offsets[name], inbounds=True)
    if isinstance(kind, FrameType):
        return builder.bitcast(place, pointer.type)
    if isinstance(kind, types.Float):
        return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))
    word = builder.load(place)
    if isinstance(kind, types.Boolean):
        return context.cast(builder, word, types.int64, kind)
    if not isinstance(kind, types.Array):
        return word
    data_type = context.get_data_type(kind.dtype)
    shape = [
        builder.load(cgutils.gep(builder, place, i + 1, inbounds=True)) for i in range(kind.ndim)
    ]
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(data_type))
    strides = [itemsize]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    array = make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(word, data_type.as_pointer()),
        shape=shape,
        strides=strides,
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue()
