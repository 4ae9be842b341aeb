using Voron.IO;
using Voron.Simulation.Disks;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Opening;

/// <summary>
/// A directory listing is no snapshot. While an environment is created, its header file gets its final name; an opening that reads the
/// directory meanwhile may see it under neither name. Such an opening reported a damaged environment.
/// </summary>
[Quick]
public sealed class HeaderNameTests
{
    private const string Header = "voron.header";
    private const string Elsewhere = "elsewhere";

    [Fact]
    public void A_header_that_gets_its_name_while_the_directory_is_read_is_found()
    {
        var disk = Made();
        HideHeader(disk, readings: 1);
        using var opened = StorageEnvironment.Open(disk, new StorageOptions());
        Count(opened).Should().Be(10);
        Put(opened, 10, 1);
    }

    [Fact]
    public void A_header_that_is_under_no_name_is_missing()
    {
        var disk = Made();
        HideHeader(disk, readings: int.MaxValue);
        var open = () => StorageEnvironment.Open(disk, new StorageOptions());
        open.Should().Throw<CorruptionException>().WithMessage("*the header of the environment is missing*");
    }

    private static SimulatedDisk Made()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions());
        Put(environment, 0, 10);
        return disk;
    }

    /// <summary>Hides the header under a name that the engine does not know during the first readings of the directory.</summary>
    private static void HideHeader(SimulatedDisk disk, int readings)
    {
        disk.Rename(Header, Elsewhere);
        var left = readings;
        disk.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.List && left-- == 0)
                    disk.Rename(Elsewhere, Header);
                return false;
            },
            DiskError.Failed,
            forever: true);
    }
}
