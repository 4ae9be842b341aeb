using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Sorting;
using Voron.Sorting;

namespace Voron.Tests.Sorting;

/// <summary>A sorter on a simulated disk, whose memory is counted.</summary>
internal sealed class SortPlace : IDisposable
{
    private readonly SortOptions _options;

    /// <param name="options">The options, without an account.</param>
    /// <param name="disk">The disk; null for a new one.</param>
    public SortPlace(SortOptions options, SimulatedDisk? disk = null)
    {
        Disk = disk ?? new SimulatedDisk();
        _options = options with { Account = Account };
        Sorter = new EntrySorter(new TemporaryFiles(new NamedSpillDisk(Disk)), _options);
    }

    public SimulatedDisk Disk { get; }

    public MemoryAccount Account { get; } = new(_ => { }, _ => { });

    public EntrySorter Sorter { get; }

    /// <summary>Adds random entries, and returns what the sort must make of them.</summary>
    public SortModel Fill(Random random, KeyKind keys, int count, int valueLength, bool isCompressible = false)
    {
        var maker = new EntryMaker(random, keys, maxKeyBytes: 1000);
        var model = new SortModel(_options.Duplicates);
        for (var i = 0; i < count; i++)
        {
            var (key, value) = (maker.NextKey(), maker.NextValue(valueLength, isCompressible));
            Sorter.Add(key, value);
            model.Add(key, value);
        }

        return model;
    }

    /// <summary>Disposes the sorter, and checks that it has kept to its memory, and has left neither memory nor an open file.</summary>
    public void DisposeAndCheck()
    {
        Sorter.Dispose();
        Account.PeakBytes.Should().BeLessThanOrEqualTo(Math.Max(_options.MemoryBytes, BulkLoadOptions.MinMemoryBytes));
        Account.Bytes.Should().Be(0);
        Disk.OpenFiles.Should().Be(0);
    }

    public void Dispose()
    {
        Sorter.Dispose();
        Account.Dispose();
    }
}
