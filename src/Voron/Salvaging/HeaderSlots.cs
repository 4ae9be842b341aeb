using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Salvaging;

/// <summary>Reads the slots of a header file, each independently.</summary>
internal static unsafe class HeaderSlots
{
    /// <summary>Returns the intact slots, the newest first.</summary>
    /// <exception cref="UnsupportedFormatException">A slot has a newer version, or features unknown to this program.</exception>
    public static IEnumerable<CheckpointHeader> Read(DiskFile file, string name, DamageList damage)
    {
        var found = new List<CheckpointHeader>();
        var block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        try
        {
            for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
            {
                var offset = slot * JournalFormat.Block;
                file.Read(offset, new Span<byte>(block, JournalFormat.Block));
                if (!HeaderFile.IsSlot(block))
                {
                    damage.AddPlace(name, offset, $"The slot at offset {offset} of '{file.Path}' is not an intact header.");
                    continue;
                }

                Check((CheckpointHeader*)block, file.Path);
                var header = CheckpointHeader.Load(block);
                if (StateStructure.FindFault(header) is { } fault)
                    damage.AddPlace(name, offset, $"The slot at offset {offset} of '{file.Path}' has a valid checksum, but contains {fault}.");
                else
                    found.Add(header);
            }
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }

        // As an opening chooses: a change of both slots adds features, and never takes one away.
        return found.OrderByDescending(header => header.CheckpointNumber).ThenByDescending(header => header.Version)
            .ThenByDescending(header => (uint)header.Features);
    }

    private static void Check(CheckpointHeader* header, string path)
    {
        if (!JournalFormat.IsKnown(header->Version))
            throw new UnsupportedFormatException($"'{path}' has format version {header->Version}, but this program knows only {JournalFormat.KnownVersions}. Salvage it with a newer version of the program.");
        var unknown = header->Features & ~JournalFormat.KnownFeatures;
        if (unknown != 0)
            throw new UnsupportedFormatException($"'{path}' uses features that this program does not know: {unknown} (bits {(uint)unknown:X8}). Salvage it with a newer version of the program.");
    }
}
