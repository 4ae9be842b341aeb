using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Writes and reads the two copies of a journal file's header.</summary>
internal static unsafe class JournalFileHeaders
{
    /// <summary>Writes both copies, one after the other; each is durable when its write returns.</summary>
    public static void Write(DiskFile file, in JournalFileHeader header, ReadOnlySpan<JournalSeal> seals)
    {
        var block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        try
        {
            NativeMemory.Clear(block, JournalFormat.Block);
            var target = (JournalFileHeader*)block;
            *target = header;
            target->SealCount = (uint)seals.Length;
            seals.CopyTo(new Span<JournalSeal>(block + JournalFileHeader.Size, JournalFileHeader.MaxSeals));
            target->Checksum = BlockChecksum(block);
            file.Write(0, new ReadOnlySpan<byte>(block, JournalFormat.Block));
            file.Write(JournalFormat.Block, new ReadOnlySpan<byte>(block, JournalFormat.Block));
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }
    }

    /// <summary>Reads the header of a journal file. Null when the file's life has not begun: no valid copy, or two that differ.</summary>
    /// <param name="damaged">True when no copy is valid.</param>
    /// <exception cref="CorruptionException">The file is shorter than it was made.</exception>
    /// <exception cref="UnsupportedFormatException">The file has a newer version, or belongs to another environment.</exception>
    public static JournalFileInfo? Read(DiskFile file, string name, UInt128 environmentId, out bool damaged)
    {
        damaged = true;
        var length = file.Length;
        if (length < JournalFormat.FirstRecordOffset)
            return null;

        var blocks = (byte*)EngineMemory.AllocateAligned(JournalFormat.FirstRecordOffset, JournalFormat.Block);
        try
        {
            file.Read(0, new Span<byte>(blocks, JournalFormat.FirstRecordOffset));
            var first = IsValid(blocks) ? (JournalFileHeader*)blocks : null;
            var second = IsValid(blocks + JournalFormat.Block) ? (JournalFileHeader*)(blocks + JournalFormat.Block) : null;
            damaged = first == null && second == null;
            if (damaged || (first != null && second != null && first->Incarnation != second->Incarnation))
                return null;

            var header = first != null ? first : second;
            if (header->Version != JournalFormat.Version)
            {
                throw new UnsupportedFormatException(
                    $"'{file.Path}' has format version {header->Version}; this program knows version {JournalFormat.Version}.");
            }

            if (header->EnvironmentId != environmentId)
            {
                throw new UnsupportedFormatException(
                    $"'{file.Path}' belongs to environment {header->EnvironmentId:X32}, not to {environmentId:X32}.");
            }

            // A file has all its blocks before it has a header, and is never made shorter.
            if (length < header->FileLength)
                throw new CorruptionException($"'{file.Path}' has been cut: it has {length} bytes of {header->FileLength}.");

            var seals = new ReadOnlySpan<JournalSeal>((byte*)header + JournalFileHeader.Size, (int)header->SealCount).ToArray();
            return new JournalFileInfo(name, length, *header, seals);
        }
        finally
        {
            EngineMemory.FreeAligned(blocks);
        }
    }

    private static bool IsValid(byte* block)
    {
        var header = (JournalFileHeader*)block;
        return header->Magic == JournalFormat.FileMagic && header->SealCount <= JournalFileHeader.MaxSeals
            && header->Checksum == BlockChecksum(block);
    }

    private static ulong BlockChecksum(byte* block) => Checksum.Compute(block + 16, JournalFormat.Block - 16, JournalFormat.FileMagic);
}
