using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees.ValueSets.Records;

/// <summary>The record of a key in a tree of value sets, whose form and fields are possible.</summary>
internal readonly unsafe ref struct ValueSetRecord
{
    private ValueSetRecord(ReadOnlySpan<byte> bytes) => Bytes = bytes;

    /// <summary>The value of the key: form and content.</summary>
    public ReadOnlySpan<byte> Bytes { get; }

    public ValueSetForm Form => (ValueSetForm)Bytes[0];

    /// <summary>The only value of a set of one.</summary>
    public ReadOnlySpan<byte> OnlyValue => Bytes[1..];

    /// <summary>The reference to a large set.</summary>
    public LargeSetReference Large => MemoryMarshal.Read<LargeSetReference>(Bytes);

    /// <summary>The number of values.</summary>
    public long Count => Form switch
    {
        ValueSetForm.One => 1,
        ValueSetForm.Few => FewValues.Count(Bytes),
        _ => Large.Count,
    };

    /// <summary>Reads a record from a leaf.</summary>
    /// <exception cref="CorruptionException">No set can have such a record.</exception>
    public static ValueSetRecord Read(PageReader reader, byte* record)
    {
        if (LeafPage.Kind(record) != ValueKind.Inline)
            ValueSetErrors.ThrowKind(reader, record);
        return Read(reader, new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record)));
    }

    /// <inheritdoc cref="Read(PageReader, byte*)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ValueSetRecord Read(PageReader reader, ReadOnlySpan<byte> bytes)
    {
        if (FindFault(bytes, reader.PageSize) is { } fault)
            ValueSetErrors.ThrowRecord(reader, fault);
        return new ValueSetRecord(bytes);
    }

    /// <summary>Returns null if a set can have this record, otherwise a description of the fault.</summary>
    public static string? FindFault(ReadOnlySpan<byte> bytes, int pageSize)
    {
        if (bytes.IsEmpty)
            return "no bytes";
        return (ValueSetForm)bytes[0] switch
        {
            ValueSetForm.One => bytes.Length - 1 is var length && length >= 1 && length <= ValueSetLayout.MaxValueLength(pageSize)
                ? null
                : $"one value of {length} bytes",
            ValueSetForm.Few => FewValues.FindFault(bytes, pageSize),
            ValueSetForm.Large => LargeSetReference.FindFault(bytes),
            _ => $"the form {bytes[0]}",
        };
    }
}
