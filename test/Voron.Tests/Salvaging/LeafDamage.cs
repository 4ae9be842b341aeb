using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Tests.Faults;

namespace Voron.Tests.Salvaging;

/// <summary>Damages a leaf of a tree in the data file of an environment that is closed.</summary>
internal static class LeafDamage
{
    private const int PageSize = 4096;

    /// <summary>Damages the first or the last leaf of a system tree.</summary>
    /// <returns>The number of its entries.</returns>
    public static int Do(string directory, ReadOnlySpan<byte> tree, bool isLast = false)
    {
        var mark = 0u;
        using (var environment = StorageEnvironment.Open(directory, FaultTestKit.Options()))
        using (var reading = environment.BeginRead())
        {
            foreach (var (name, header) in reading.GetSystemTrees())
            {
                if (tree.SequenceEqual(name))
                    mark = header.TreeId + 1;
            }
        }

        return Do(directory, mark, isLast);
    }

    /// <summary>Damages the first or the last leaf with a mark: that of a tree is its id plus one, that of the catalog 1.</summary>
    /// <returns>The number of its entries.</returns>
    public static int Do(string directory, uint treeMark, bool isLast = false)
    {
        var path = Path.Combine(directory, "voron.data");
        var file = File.ReadAllBytes(path);
        var starts = Enumerable.Range(0, file.Length / PageSize).Select(page => page * PageSize)
            .Where(start => IsLeaf(Header(file.AsSpan(start)), start / PageSize)).ToList();
        var start = isLast ? starts[^1] : starts[0];
        file[start + 100]++;
        File.WriteAllBytes(path, file);
        return Header(file.AsSpan(start)).EntryCount;

        bool IsLeaf(PageHeader header, int page) => header.PageNumber == page && header.Kind == PageKind.Leaf && header.TreeMark == treeMark;
    }

    private static PageHeader Header(ReadOnlySpan<byte> page) => MemoryMarshal.Read<PageHeader>(page);
}
