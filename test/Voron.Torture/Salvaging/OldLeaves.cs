using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Torture.Damage;
using Voron.Trees.Pages;

namespace Voron.Torture.Salvaging;

/// <summary>
/// Two leaves of one tree behind the pages in use, as a file has them that was longer once: with the same keys, and of two versions.
/// </summary>
/// <param name="Files">The files with them.</param>
internal sealed record OldLeaves(StoreFiles Files)
{
    /// <summary>The bytes of the values in the older leaf.</summary>
    public const byte Older = 0xA1;

    /// <summary>The bytes of the values in the newer leaf.</summary>
    public const byte Newer = 0xB2;

    /// <summary>Adds the leaves; returns null if the store has no leaf that could be copied.</summary>
    public static OldLeaves? AddTo(StoreFiles files)
    {
        var header = MemoryMarshal.Read<CheckpointHeader>(files[ForgedStore.HeaderFile]);
        var data = files[ForgedStore.DataFile];
        var pages = data.Length / ForgedStore.PageSize;
        for (var page = pages - 1; page > 2; page--)
        {
            var bytes = data.AsSpan(page * ForgedStore.PageSize, ForgedStore.PageSize).ToArray();
            var leaf = MemoryMarshal.Read<PageHeader>(bytes);
            if (leaf.PageNumber != page || leaf.Kind != PageKind.Leaf || leaf.TreeMark < 2
                || leaf.Checksum != Checksum.Compute(bytes.AsSpan(PageHeader.UnjournaledBytes), Checksum.Seed(header.EnvironmentId, page)))
                continue;
            if (!HasInlineValues(bytes))
                continue;
            var longer = new byte[data.Length + 2 * ForgedStore.PageSize];
            data.CopyTo(longer, 0);

            // The newer one comes first, so that its place does not decide.
            Make(bytes, header.EnvironmentId, pages, Newer, version: (1L << 40) + 1).CopyTo(longer, data.Length);
            Make(bytes, header.EnvironmentId, pages + 1, Older, version: 1L << 40).CopyTo(longer, data.Length + ForgedStore.PageSize);
            return new OldLeaves(files.With(ForgedStore.DataFile, longer));
        }

        return null;
    }

    private static unsafe bool HasInlineValues(byte[] leaf)
    {
        fixed (byte* start = leaf)
        {
            for (var i = 0; i < SlottedPage.Count(start); i++)
            {
                if (LeafPage.Kind(SlottedPage.Record(start, i)) != ValueKind.Inline)
                    return false;
            }
        }

        return true;
    }

    private static unsafe byte[] Make(byte[] source, RandomId environmentId, long page, byte value, long version)
    {
        var bytes = (byte[])source.Clone();
        fixed (byte* start = bytes)
        {
            var header = (PageHeader*)start;
            header->PageNumber = page;
            header->TransactionId = version;
            for (var i = 0; i < SlottedPage.Count(start); i++)
            {
                var record = SlottedPage.Record(start, i);
                if (LeafPage.Kind(record) == ValueKind.Inline)
                    new Span<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record)).Fill(value);
            }

            header->Checksum = Checksum.Compute(bytes.AsSpan(PageHeader.UnjournaledBytes), Checksum.Seed(environmentId, page));
        }

        return bytes;
    }
}
