using System.Globalization;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>The memory and the addresses of many environments in memory. Alone, because the system counts those of the process.</summary>
[Collection(nameof(Alone))]
public sealed class InMemoryFootprintTests
{
    private const int Environments = 300;

    /// <summary>
    /// Each took 15 MB when a journal file was zeroed for each and the system cleared a large page for its first version, and 67 GB of addresses.
    /// </summary>
    [Fact]
    public void An_open_environment_takes_little_memory()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "/proc/self/status exists only on Linux");
        FaultTestKit.Put(StorageEnvironment.OpenInMemory(), 1, [1]);
        var all = new List<StorageEnvironment>();
        try
        {
            var (resident, addresses) = (Read("VmRSS:"), Read("VmSize:"));
            for (var i = 0; i < Environments; i++)
            {
                all.Add(StorageEnvironment.OpenInMemory());
                FaultTestKit.Put(all[i], 1, [1]);
            }

            ((Read("VmRSS:") - resident) / Environments).Should().BeLessThan(1 << 10, "KiB of memory, managed memory included");
            ((Read("VmSize:") - addresses) / Environments).Should().BeLessThan(40L << 20, "KiB of addresses");
        }
        finally
        {
            all.ForEach(environment => environment.Dispose());
        }
    }

    private static long Read(string field)
    {
        var line = File.ReadLines("/proc/self/status").First(text => text.StartsWith(field, StringComparison.Ordinal));
        return long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture);
    }
}
