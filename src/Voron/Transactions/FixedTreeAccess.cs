using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Trees;
using Voron.Trees.FixedSize;

namespace Voron.Transactions;

/// <summary>The reads and changes of one open fixed-size tree.</summary>
/// <remarks>A change that fails midway breaks the transaction: see <see cref="WriteContext.Break"/>.</remarks>
internal static unsafe class FixedTreeAccess
{
    /// <summary>Finds the value of a key. The bytes are those of the page.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryGet(OpenTree tree, long key, out ReadOnlySpan<byte> value)
    {
        var state = tree.SettledState();
        return TryMake(FixedSizeReader.Find(state, tree.Owner.Pages, key), state, out value);
    }

    /// <summary>Finds the entry with a key or, if there is none, the one after it (step 1) or before it (step -1).</summary>
    public static bool TryGetNear(OpenTree tree, long key, int step, out long found, out ReadOnlySpan<byte> value)
    {
        var state = tree.SettledState();
        return TryMake(FixedSizeReader.FindNear(state, tree.Owner.Pages, key, step, out found), state, out value);
    }

    /// <summary>Copies the values of all keys in the tree to their positions, and returns the number of these keys.</summary>
    [SkipLocalsInit]
    public static int GetMany(OpenTree tree, ReadOnlySpan<long> keys, Span<byte> values, Span<bool> found)
    {
        var state = tree.SettledState();
        var size = (int)state.NestedValues;
        if (values.Length / Math.Max(1, size) < keys.Length && size > 0)
            ThrowShort(nameof(values), values.Length, (long)keys.Length * size, keys.Length);
        if (found.Length < keys.Length)
            ThrowShort(nameof(found), found.Length, keys.Length, keys.Length);

        var addresses = stackalloc byte*[FixedSizeReader.Width];
        var count = 0;
        for (var from = 0; from < keys.Length; from += FixedSizeReader.Width)
        {
            var group = keys.Slice(from, Math.Min(FixedSizeReader.Width, keys.Length - from));
            FixedSizeReader.FindMany(state, tree.Owner.Pages, group, addresses);
            for (var i = 0; i < group.Length; i++)
            {
                found[from + i] = addresses[i] != null;
                if (addresses[i] == null)
                    continue;
                new ReadOnlySpan<byte>(addresses[i], size).CopyTo(values[((from + i) * size)..]);
                count++;
            }
        }

        return count;
    }

    /// <summary>Sets the value of a key.</summary>
    /// <exception cref="ArgumentException">The value does not have the size of the tree's values. Nothing was changed.</exception>
    public static void Put(OpenTree tree, long key, ReadOnlySpan<byte> value)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        if (value.Length != tree.StateAsIs.NestedValues)
            throw WrongSize(tree, value.Length, nameof(value));
        try
        {
            FixedSizeWriter.Put(write.Pages, tree.SettledState(), key, value);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes an entry; false when the tree does not contain the key.</summary>
    public static bool Delete(OpenTree tree, long key)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        try
        {
            return FixedSizeWriter.Delete(write.Pages, tree.SettledState(), key);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes the entries from one key to another, both included, and returns their number.</summary>
    public static long DeleteRange(OpenTree tree, long first, long last)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        try
        {
            return FixedSizeRemoval.Delete(write.Pages, tree.SettledState(), first, last);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Returns the value in a page as a reference, aligned as far as its type requires.</summary>
    public static ref readonly T AsReference<T>(ReadOnlySpan<byte> value)
        where T : unmanaged
        => ref Unsafe.As<byte, T>(ref MemoryMarshal.GetReference(value));

    /// <summary>
    /// Checks that values of a type have the size of the tree's values, and that the processor orders their bytes as the file does.
    /// </summary>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian.</exception>
    /// <exception cref="InvalidOperationException">The values of the tree have another size.</exception>
    public static void CheckType<T>(OpenTree tree)
        where T : unmanaged
    {
        CheckProcessor<T>();
        if (tree.StateAsIs.NestedValues != sizeof(T))
        {
            throw new InvalidOperationException(
                $"The {Catalog.Describe(tree.Name)} has values of {tree.StateAsIs.NestedValues} bytes, but a {typeof(T)} has {sizeof(T)}.");
        }
    }

    /// <summary>Returns the size of a value of a type.</summary>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian.</exception>
    public static int SizeOf<T>()
        where T : unmanaged
    {
        CheckProcessor<T>();
        return sizeof(T);
    }

    private static void CheckProcessor<T>()
    {
        if (!BitConverter.IsLittleEndian)
        {
            throw new PlatformNotSupportedException(
                $"Values of type {typeof(T)} are the bytes of the tree itself, which are little-endian, but this processor is big-endian. Use {nameof(FixedTree)}.");
        }
    }

    private static bool TryMake(byte* address, TreeState state, out ReadOnlySpan<byte> value)
    {
        value = new ReadOnlySpan<byte>(address, address == null ? 0 : (int)state.NestedValues);
        return address != null;
    }

    private static ArgumentException WrongSize(OpenTree tree, int length, string parameter) => new(
        $"The {Catalog.Describe(tree.Name)} has values of {tree.StateAsIs.NestedValues} bytes, but this one has {length}.", parameter);

    [DoesNotReturn]
    private static void ThrowShort(string name, int length, long needed, int keys) =>
        throw new ArgumentException($"The results of {keys} keys need space for {needed}, but there is only space for {length}.", name);
}
