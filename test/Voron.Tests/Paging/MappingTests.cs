using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Memory;
using Voron.Tests.Faults;
using Voron.Tests.IO;

namespace Voron.Tests.Paging;

/// <summary>The calls for addresses, and the mappings, that an open environment costs. Alone, because all of the process are counted.</summary>
[Collection(nameof(Alone))]
public sealed class MappingTests
{
    private const int Environments = 100;

    /// <summary>Of the guard of these tests: each part has an inaccessible page on both sides, which splits mappings.</summary>
    private const int OfGuard = 10;

    [Fact]
    public void An_environment_in_memory_takes_few_mappings()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "/proc/self/maps exists only on Linux");
        FaultTestKit.Put(StorageEnvironment.OpenInMemory(), 1, [1]);
        var all = new List<StorageEnvironment>(Environments);
        try
        {
            var before = MemoryMaps.Count;
            for (var i = 0; i < Environments; i++)
            {
                all.Add(StorageEnvironment.OpenInMemory());
                FaultTestKit.Put(all[i], 1, [1]);
            }

            ((MemoryMaps.Count - before) / Environments).Should().BeLessThanOrEqualTo(13 + OfGuard);
        }
        finally
        {
            all.ForEach(environment => environment.Dispose());
        }
    }

    /// <summary>All tables of an environment, and its first scratch memory, lie within one reservation, whatever their sizes.</summary>
    [Theory]
    [InlineData(4096, 0, 80 << 20, 256 << 20)]
    [InlineData(4096, 1L << 40, 80 << 20, 256 << 20)]
    [InlineData(8192, 0, 0, 16 << 20)]
    [InlineData(65536, long.MaxValue, 1 << 30, 1 << 30)]
    public void An_opening_reserves_addresses_once(int pageSize, long volume, long keyHeadBytes, long scratchBytes)
    {
        var reserved = new Reservations();
        var disk = new SimulatedDisk { VolumeBytes = volume };
        var options = FaultTestKit.Options();
        (options.PageSize, options.KeyHeadCacheBytes, options.ScratchMemoryBytes) = (pageSize, keyHeadBytes, scratchBytes);
        StorageEnvironment.Open(disk, options).Dispose();
        using (new WatchedThread(reserved))
        {
            using var environment = StorageEnvironment.Open(disk, options);
            FaultTestKit.Put(environment, 1, [1]);
            var file = environment.Internals.Engine.DataFile;
            var large = reserved.Live.Where(range => range.Value >= 1 << 20 && range.Key != MapOf(file)).ToArray();
            large.Should().ContainSingle("the map alone has another reservation").Which.Value.Should().BeGreaterThan(64 << 20);
            file.Addresses!.Free.Should().BeLessThan(large[0].Value / 16, "no more is reserved than is divided");
        }

        reserved.Live.Should().BeEmpty();
    }

    private static unsafe nint MapOf(DataFile file) => (nint)(file.MapAddress - AddressReservation.Edge);

    /// <summary>The ranges that the engine has taken and not returned.</summary>
    private sealed class Reservations : IMemoryWatch
    {
        private readonly Dictionary<nint, nuint> _live = [];

        public KeyValuePair<nint, nuint>[] Live
        {
            get
            {
                lock (_live)
                    return [.. _live];
            }
        }

        bool IMemoryWatch.Allows(nuint bytes) => true;

        void IMemoryWatch.Taken(nint address, nuint bytes)
        {
            lock (_live)
                _live[address] = bytes;
        }

        void IMemoryWatch.Freed(nint address)
        {
            lock (_live)
                _live.Remove(address);
        }
    }
}
