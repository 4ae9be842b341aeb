using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

/// <summary>
/// Determines for how many pages an environment reserves addresses. Reserved addresses cost no memory, but a process may have a limit on them.
/// </summary>
/// <remarks>
/// The tables that are indexed by page do not move, because readers walk them without locks. They therefore receive addresses for twice the pages
/// that the volume could hold: about 140 bytes per page up to 512 GiB and 13 beyond. A process with a limit on its addresses receives fewer. Such
/// an environment refuses to grow beyond them until it is opened again, and says so.
/// </remarks>
internal static class AddressPlan
{
    /// <summary>A volume may be extended while the environment is open.</summary>
    private const int VolumeGrowth = 2;

    private const long MinPages = 1 << 20;
    private const long SmallestTry = 1 << 14;
    private const long NodesBeside = 1 << 20;
    private const long MaxNodes = 1L << 28;

    /// <summary>The bits and the first chain heads of an environment of 16 GiB fit into this many bytes.</summary>
    private const nuint FirstBytes = 4 << 20;

    private const int FreeFactor = 4;

    /// <summary>The maximum number of parts of a reservation: six tables indexed by page or node, and four others.</summary>
    private const int MaxParts = 16;

    /// <summary>Chain heads are committed in steps of this size, and their table ends with a whole one.</summary>
    private const nuint RoundingBytes = 64 << 10;

    /// <summary>A chain head, a slot for the key heads of branches, two verification bits, and a share of a counter.</summary>
    private const long TableBytesPerPage = sizeof(ulong) + sizeof(int) + 1;

    /// <summary>Returns the number of page versions that can be in use at a time.</summary>
    public static long Nodes(long pages) => Math.Min(MaxNodes, 2 * pages + NodesBeside);

    /// <summary>Chooses the number of pages to reserve addresses for, and reserves them.</summary>
    /// <param name="path">The path of the environment, for messages.</param>
    /// <param name="needed">The number of pages that the environment has now.</param>
    /// <param name="volumeBytes">The number of bytes that its volume can hold.</param>
    /// <param name="layout">The page size, and the maximum number of pages that the format allows.</param>
    /// <param name="others">The number of bytes to reserve for other parts of the environment.</param>
    /// <exception cref="InsufficientMemoryException">There is no memory for the beginning of the tables.</exception>
    /// <exception cref="StorageFullException">There are not even enough addresses for the pages that the environment has.</exception>
    public static PlannedAddresses Reserve(string path, long needed, long volumeBytes, SectionMapLayout layout, nuint others)
    {
        var (pageSize, most) = (layout.PageSize, layout.MaxPageCount);
        var least = Math.Min(most, needed + needed / 4 + SmallestTry);
        var pages = Math.Min(most, Math.Max(MinPages, volumeBytes / pageSize));
        pages = Math.Clamp(pages > most / VolumeGrowth ? most : pages * VolumeGrowth, least, most);
        AddressReservation? reservation;
        while ((reservation = TryReserve(Bytes(pages), others)) == null && !PlantedFault.ReserveForVolume)
        {
            if (pages == least)
            {
                throw new StorageFullException(
                    $"The environment in '{path}' cannot be opened: the process has no {Bytes(least)} bytes of addresses left for the tables of its " +
                    $"{needed} pages. Raise the limit on its address space (ulimit -v).");
            }

            pages = Math.Max(least, pages / 2);
        }

        try
        {
            reservation?.CommitFirst(FirstBytes);
            return new PlannedAddresses(pages, reservation);
        }
        catch
        {
            reservation!.Dispose();
            throw;
        }
    }

    public static StorageFullException Exceeded(string path, long wanted, long reserved) => new(
        $"The environment in '{path}' cannot grow to {wanted} pages: when it was opened, it reserved addresses for {reserved}, according to the " +
        "size of the volume and the limit on the address space of the process. Close and open it again, or raise the limit (ulimit -v).");

    /// <summary>Returns the bytes of address space that the tables for a number of pages take.</summary>
    public static long Bytes(long pages) => pages * TableBytesPerPage + Nodes(pages) * VersionNode.Size;

    // Three times as much must stay free, for the map, the pages in memory, and the rest of the process. The other parts of the reservation count
    // toward that; if there is too little, they have to reserve their own addresses.
    private static AddressReservation? TryReserve(long tables, nuint others)
    {
        var wanted = (nuint)tables * FreeFactor;
        var bytes = Math.Min((nuint)tables + others + AddressReservation.Margin(MaxParts) + RoundingBytes, wanted);
        return AddressReservation.TryReserve(bytes, wanted - bytes);
    }
}

/// <summary>The addresses that an environment has reserved.</summary>
/// <param name="Pages">The number of pages for which the tables have space.</param>
/// <param name="Reservation">The addresses to divide; null if each part has to reserve its own.</param>
internal readonly record struct PlannedAddresses(long Pages, AddressReservation? Reservation = null);
