using Voron.IO;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>For how many pages an environment reserves addresses. What is reserved costs no memory, but a process may have a limit on it.</summary>
/// <remarks>
/// The tables that are indexed by page do not move, since readers walk them without locks. So they get addresses for twice the pages that
/// the volume could hold, some 140 bytes a page up to 512 GiB and 13 beyond, and a process whose addresses are limited gets fewer: such an
/// environment refuses to grow beyond them until it is opened again, and says so.
/// </remarks>
internal static class AddressPlan
{
    /// <summary>A volume may be extended while the environment is open.</summary>
    private const int VolumeGrowth = 2;

    private const long MinPages = 1 << 20;
    private const long SmallestTry = 1 << 14;
    private const long NodesBeside = 1 << 20;
    private const long MaxNodes = 1L << 28;

    /// <summary>A head, a slot of branch heads, two bits of verification, a share of a counter.</summary>
    private const long TableBytesPerPage = sizeof(ulong) + sizeof(int) + 1;

    /// <summary>How many versions of pages can be in use at a time.</summary>
    public static long Nodes(long pages) => Math.Min(MaxNodes, 2 * pages + NodesBeside);

    /// <summary>The number of pages to reserve addresses for.</summary>
    /// <param name="path">The environment, for messages.</param>
    /// <param name="needed">The pages that it has now.</param>
    /// <param name="volumeBytes">What its volume can hold.</param>
    /// <param name="pageSize">Bytes of a page.</param>
    /// <param name="most">The most pages that the format allows.</param>
    /// <exception cref="StorageFullException">There are not even enough addresses for the pages that it has.</exception>
    public static long Choose(string path, long needed, long volumeBytes, int pageSize, long most)
    {
        var least = Math.Min(most, needed + needed / 4 + SmallestTry);
        var pages = Math.Min(most, Math.Max(MinPages, volumeBytes / pageSize));
        pages = Math.Clamp(pages > most / VolumeGrowth ? most : pages * VolumeGrowth, least, most);
        while (!IsFree(Bytes(pages)) && !PlantedFault.ReserveForVolume)
        {
            if (pages == least)
            {
                throw new StorageFullException(
                    $"The environment in '{path}' cannot be opened: the process has no {Bytes(least)} bytes of addresses left for the tables of its " +
                    $"{needed} pages. Raise the limit on its address space (ulimit -v).");
            }

            pages = Math.Max(least, pages / 2);
        }

        return pages;
    }

    public static StorageFullException Exceeded(string path, long wanted, long reserved) => new(
        $"The environment in '{path}' cannot grow to {wanted} pages: addresses for {reserved} were reserved when it was opened, by the size of the " +
        "volume and the limit on the address space of the process. Close and open it again, or raise the limit (ulimit -v).");

    /// <summary>Bytes of addresses that the tables for a number of pages take.</summary>
    public static long Bytes(long pages) => pages * TableBytesPerPage + Nodes(pages) * VersionNode.Size;

    // Three times as much has to stay free: for the map, the pages in memory, and the rest of the process.
    private static bool IsFree(long bytes)
    {
        try
        {
            AddressSpace.Reserve((nuint)bytes * 4).Dispose();
            return true;
        }
        catch (InsufficientMemoryException)
        {
            return false;
        }
    }
}
