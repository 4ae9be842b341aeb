using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Sorting;

namespace Voron.Trees.Batches;

/// <summary>A buffered put: the offset of its key in the buffer, followed there by the value or the operand.</summary>
/// <remarks>Only eight bytes, since a large transaction can have a hundred thousand of them.</remarks>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly struct WaitingPut : IKeyedItem
{
    private const int OperationShift = 12;

    private readonly ushort _keyLength;
    private readonly ushort _valueLengthAndOperation;

    public WaitingPut(int offset, int keyLength, int valueLength, WaitingOperation operation)
    {
        Debug.Assert(keyLength <= ushort.MaxValue && valueLength < 1 << OperationShift, "A put of this length must not be buffered.");
        Offset = offset;
        _keyLength = (ushort)keyLength;
        _valueLengthAndOperation = (ushort)(valueLength | ((int)operation << OperationShift));
    }

    public int Offset { get; }

    public int KeyLength => _keyLength;

    public int ValueLength => _valueLengthAndOperation & ((1 << OperationShift) - 1);

    public WaitingOperation Operation => (WaitingOperation)(_valueLengthAndOperation >> OperationShift);

    /// <summary>The total number of bytes of key and value.</summary>
    public int Length => KeyLength + ValueLength;
}

/// <summary>The operation of a buffered put on the value of its key.</summary>
internal enum WaitingOperation
{
    /// <summary>The buffered value replaces that of the key.</summary>
    Put = 0,

    /// <summary>The operand, a <see cref="long"/>, is added to a counter.</summary>
    Increment = 1,

    /// <summary>An id, with its payload, is added to the set of the key.</summary>
    AddId = 2,

    /// <summary>An id is removed from the set of the key.</summary>
    RemoveId = 3,
}
