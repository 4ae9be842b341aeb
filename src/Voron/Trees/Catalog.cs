using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>The tree of trees: its keys are names in UTF-8, and each value is the <see cref="TreeHeader"/> of the named tree.</summary>
internal static class Catalog
{
    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Encodes a name in UTF-8 and returns its bytes.</summary>
    /// <param name="name">The name.</param>
    /// <param name="buffer">Receives the bytes.</param>
    /// <param name="parameter">The name of the public method's parameter, for exceptions.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    public static ReadOnlySpan<byte> Encode(
        string name, Span<byte> buffer, [CallerArgumentExpression(nameof(name))] string? parameter = null)
    {
        ArgumentNullException.ThrowIfNull(name, parameter);
        int length;
        try
        {
            length = Utf8.GetByteCount(name);
        }
        catch (EncoderFallbackException cause)
        {
            throw new ArgumentException(
                $"A tree name must be valid text, but this one has half of a surrogate pair at index {cause.Index}.", parameter, cause);
        }

        CheckLength(length, parameter);
        return buffer[..Utf8.GetBytes(name, buffer)];
    }

    /// <exception cref="ArgumentException">The name is empty or longer than 255 bytes.</exception>
    public static void CheckName(ReadOnlySpan<byte> name) => CheckLength(name.Length, nameof(name));

    /// <summary>Decodes a name from a catalog.</summary>
    /// <exception cref="CorruptionException">The bytes are not a possible tree name.</exception>
    public static string Decode(ReadOnlySpan<byte> name)
    {
        if (name.Length is < 1 or > TreeLimits.MaxNameBytes || !System.Text.Unicode.Utf8.IsValid(name))
            throw new CorruptionException($"The catalog contains a name of {name.Length} bytes that no tree can have: {KeyText.Of(name)}.");
        return Encoding.UTF8.GetString(name);
    }

    /// <summary>Describes a tree of the catalog for messages, whether a user tree or a <see cref="SystemTree"/>.</summary>
    /// <exception cref="CorruptionException">The bytes are not a possible tree name.</exception>
    public static string Describe(ReadOnlySpan<byte> name) => SystemTree.Is(name) ? SystemTree.Describe(name) : $"tree '{Decode(name)}'";

    /// <summary>Returns the name of a user tree, or the description of a <see cref="SystemTree"/>.</summary>
    /// <inheritdoc cref="Describe"/>
    public static string ShownName(ReadOnlySpan<byte> name) => SystemTree.Is(name) ? SystemTree.Describe(name) : Decode(name);

    /// <summary>Finds the dropped tree with the lowest id not below <paramref name="fromId"/>; returns false if there is none.</summary>
    public static bool TryFindDropped(TreeState catalog, PageReader reader, uint fromId, out uint id)
    {
        id = 0;
        var cursor = new TreeCursor();
        cursor.Open(catalog, reader, canChange: false);
        try
        {
            var found = cursor.Seek(SystemTree.DroppedName(fromId, stackalloc byte[SystemTree.DroppedNameBytes]));
            while (found && cursor.Key.StartsWith(SystemTree.FirstDropped) && !SystemTree.IsDropped(cursor.Key))
                found = cursor.MoveNext();
            if (!found || !SystemTree.IsDropped(cursor.Key))
                return false;
            id = SystemTree.DroppedId(cursor.Key);
            return true;
        }
        finally
        {
            cursor.Close();
        }
    }

    /// <summary>Reads the header of a tree; returns false if no tree has this name.</summary>
    public static bool TryFind(TreeState catalog, PageReader reader, ReadOnlySpan<byte> name, out TreeHeader header)
    {
        CheckName(name);
        if (!TreeReader.TryGet(catalog, reader, name, out var value))
        {
            header = default;
            return false;
        }

        header = ToHeader(name, value, reader.PageCount, reader.PageSize, reader.FilePath);
        return true;
    }

    /// <summary>Returns the header in a catalog entry.</summary>
    /// <param name="pageCount">The number of existing pages.</param>
    /// <param name="pageSize">The page size in bytes, which limits the value size of a fixed-size tree.</param>
    /// <param name="path">The path of the data file, for messages.</param>
    /// <exception cref="CorruptionException">The value is not a header, or is an impossible one.</exception>
    public static TreeHeader ToHeader(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value, long pageCount, int pageSize, string path)
    {
        if (value.Length != TreeHeader.Size)
            ThrowHeaderSize(name, value.Length, path);

        var header = MemoryMarshal.Read<TreeHeader>(value);
        if (StateStructure.FindFault(header, pageCount, pageSize) is { } fault)
            throw new CorruptionException($"The catalog entry of tree {KeyText.Of(name)} in '{path}' has {fault}.");
        return header;
    }

    /// <summary>Adds a tree; returns false and changes nothing if the name is taken.</summary>
    public static bool Create(PageWriter writer, TreeState catalog, ReadOnlySpan<byte> name, in TreeHeader header)
    {
        CheckName(name);
        return TreeWriter.Insert(writer, catalog, name, AsBytes(header));
    }

    /// <summary>Saves the header of a changed tree, and marks the tree as unchanged.</summary>
    public static void Save(PageWriter writer, TreeState catalog, ReadOnlySpan<byte> name, TreeState tree)
    {
        CheckName(name);
        var header = tree.ToHeader();
        TreeWriter.Put(writer, catalog, name, AsBytes(header));
        tree.Changed = false;
    }

    /// <summary>Renames a tree; returns false if no tree has the old name.</summary>
    /// <exception cref="ArgumentException">The new name is taken.</exception>
    public static bool Rename(PageWriter writer, TreeState catalog, ReadOnlySpan<byte> name, ReadOnlySpan<byte> newName)
    {
        CheckName(newName);
        if (!TryFind(catalog, writer, name, out var header))
            return false;

        if (name.SequenceEqual(newName))
            return true;

        if (!Create(writer, catalog, newName, header))
            ThrowTaken(newName);

        TreeWriter.Delete(writer, catalog, name);
        return true;
    }

    /// <summary>
    /// Removes the entry of a tree whose pages the caller has freed; returns false if no tree has this name. The caller passes the tree's state in
    /// this transaction, because the header in the catalog may be older.
    /// </summary>
    public static bool Delete(PageWriter writer, TreeState catalog, ReadOnlySpan<byte> name, TreeState tree)
    {
        CheckName(name);
        if (!TreeReader.Contains(catalog, writer, name))
            return false;

        Debug.Assert(tree.Root.IsNone, "The caller must have freed the pages of the tree.");
        tree.Changed = false;
        return TreeWriter.Delete(writer, catalog, name);
    }

    private static ReadOnlySpan<byte> AsBytes(in TreeHeader header) =>
        MemoryMarshal.AsBytes(new ReadOnlySpan<TreeHeader>(ref Unsafe.AsRef(in header)));

    private static void CheckLength(int length, string? parameter)
    {
        if (length is < 1 or > TreeLimits.MaxNameBytes)
        {
            throw new ArgumentException(
                $"A tree name must have 1 to {TreeLimits.MaxNameBytes} bytes in UTF-8, but this one has {length}.", parameter);
        }
    }

    [DoesNotReturn]
    private static void ThrowTaken(ReadOnlySpan<byte> name) =>
        throw new ArgumentException($"A tree named '{Decode(name)}' already exists.", nameof(name));

    [DoesNotReturn]
    private static void ThrowHeaderSize(ReadOnlySpan<byte> name, int length, string path) =>
        throw new CorruptionException(
            $"The catalog entry of tree {KeyText.Of(name)} in '{path}' has {length} bytes, but a tree header has {TreeHeader.Size}.");
}
