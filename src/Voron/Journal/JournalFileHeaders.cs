using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Writes the two copies of a journal file's header.</summary>
internal static unsafe class JournalFileHeaders
{
    /// <summary>Writes both copies, which are durable when the method returns.</summary>
    /// <param name="file">The file.</param>
    /// <param name="header">The header, without seals and checksum.</param>
    /// <param name="seals">The seals for earlier files.</param>
    /// <param name="isNew">
    /// True to write both copies with one call: a new file without a valid copy is deleted. In a file that is used again, the first copy is durable
    /// before the second is overwritten, so that one of them is valid at any time.
    /// </param>
    public static void Write(DiskFile file, in JournalFileHeader header, ReadOnlySpan<JournalSeal> seals, bool isNew)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(seals.Length, JournalFileHeader.MaxSeals);
        var block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        try
        {
            NativeMemory.Clear(block, JournalFormat.Block);
            var target = (JournalFileHeader*)block;
            *target = header;
            target->SealCount = (uint)seals.Length;
            var next = (JournalSeal*)(block + JournalFileHeader.Size);
            foreach (ref readonly var seal in seals)
                *next++ = seal;
            target->Checksum = JournalFileHeader.ComputeChecksum(block);
            Write(file, block, isNew);
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }
    }

    private static void Write(DiskFile file, byte* block, bool isNew)
    {
        if (isNew)
        {
            var copies = stackalloc IoBlock[2];
            copies[0] = copies[1] = new IoBlock(block, JournalFormat.Block);
            file.WriteVectored(0, new ReadOnlySpan<IoBlock>(copies, 2));
            return;
        }

        file.Write(0, new ReadOnlySpan<byte>(block, JournalFormat.Block));
        file.Write(JournalFormat.Block, new ReadOnlySpan<byte>(block, JournalFormat.Block));
    }
}
