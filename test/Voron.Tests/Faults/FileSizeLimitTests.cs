using System.Diagnostics;
using Voron.KillTarget;

namespace Voron.Tests.Faults;

public sealed class FileSizeLimitTests
{
    /// <summary>SIGXFSZ ended the process. Now such a limit counts as a full disk, and has the same effect.</summary>
    [Fact]
    public void A_process_that_reaches_its_file_size_limit_gets_an_exception_and_continues()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has no limit for the size of a file.");
        using var directory = new TestDirectory();
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true };
        start.ArgumentList.Add(typeof(KillWorkload).Assembly.Location);
        start.ArgumentList.Add("limited");
        start.ArgumentList.Add(directory);
        start.ArgumentList.Add("25000000");
        using var process = Process.Start(start)!;
        var said = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        (process.ExitCode, said).Should().Be((0, "sound"), process.StandardError.ReadToEnd());
    }
}
