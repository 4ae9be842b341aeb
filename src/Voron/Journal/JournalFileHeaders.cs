using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Writes the two copies of a journal file's header.</summary>
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
            target->Checksum = JournalFileHeader.ComputeChecksum(block);
            file.Write(0, new ReadOnlySpan<byte>(block, JournalFormat.Block));
            file.Write(JournalFormat.Block, new ReadOnlySpan<byte>(block, JournalFormat.Block));
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }
    }
}
