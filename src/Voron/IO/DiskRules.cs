using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Voron.IO;

/// <summary>The rules that every disk, real or simulated, enforces on its callers, so that a mistake shows on each of them.</summary>
internal static unsafe class DiskRules
{
    /// <summary>
    /// In bytes. The largest logical sector in use, and the memory page of most systems: file systems that require less accept more.
    /// </summary>
    public const int Alignment = 4096;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsAligned(long offset, byte* address, long length) => ((offset | (long)address | length) & (Alignment - 1)) == 0;

    public static long RoundUp(long bytes, long unit) => checked(bytes + unit - 1) / unit * unit;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void CheckWrite(DiskAccess access, long offset, byte* address, long length)
    {
        if (offset < 0 || (access != DiskAccess.Buffered && !IsAligned(offset, address, length)))
            ThrowBadTransfer(offset, address, length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void CheckRead(long offset)
    {
        if (offset < 0)
            ThrowBadRange(offset, 0);
    }

    public static void CheckRange(long offset, long length)
    {
        if (offset < 0 || length < 0 || offset > long.MaxValue - length)
            ThrowBadRange(offset, length);
    }

    public static void CheckMappable(DiskAccess access, string path, long length)
    {
        if (access != DiskAccess.Buffered)
            throw new InvalidOperationException($"'{path}' is open for write-through, but only buffered files can be mapped.");
        if (length < 0)
            ThrowBadRange(0, length);
    }

    public static void CheckLengthInMap(long length, long mapped)
    {
        if (length < 0 || length > mapped)
            throw new ArgumentOutOfRangeException(nameof(length), length, $"The map has only {mapped} bytes.");
    }

    /// <summary>Throws unless the name is a plain file name: a path in a name would lead out of the directory.</summary>
    public static void CheckName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        if (name is "." or ".." || name.AsSpan().IndexOfAny('/', '\\', '\0') >= 0)
            throw new ArgumentException($"'{name}' is not a file name.", nameof(name));
    }

    public static void CheckWritable(bool readOnly, string operation, string path)
    {
        if (readOnly)
            throw new DiskException(DiskError.AccessDenied, operation, path, "it is open for reading only");
    }

    [DoesNotReturn]
    public static void ThrowEndOfFile(string operation, string path, long offset, long length, long fileLength) =>
        throw new DiskException(
            DiskError.EndOfFile, operation, path, $"{length} bytes at offset {offset} extend past its {fileLength} bytes");

    [DoesNotReturn]
    private static void ThrowBadRange(long offset, long length) =>
        throw new ArgumentOutOfRangeException(nameof(offset), $"Offset {offset} and length {length} are not a valid range of a file.");

    [DoesNotReturn]
    private static void ThrowBadTransfer(long offset, byte* address, long length) =>
        throw new ArgumentException(
            $"Offset {offset}, length {length} and address 0x{(nuint)address:x} must all be multiples of {Alignment}, and not negative.");
}
