using Voron.Simulation.Processes;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>A directory that another process has open is refused, lest two processes write to the same files.</summary>
public sealed class OtherProcessTests
{
    [Fact]
    public void A_directory_that_another_process_has_open_is_refused_at_once()
    {
        using var directory = new TemporaryDirectory();
        using var target = new KillTargetProcess(directory.Path);
        target.Listen();
        var open = () => StorageEnvironment.Open(directory.Path);
        open.Should().Throw<EnvironmentInUseException>().WithMessage(
            OperatingSystem.IsWindows() ? $"*{directory.Path}*another process*" : $"*{directory.Path}*process {target.ProcessId}*")
            .Which.Message.Should().NotContain("Waited");
        target.Kill();
        using var environment = StorageEnvironment.Open(directory.Path);
        FaultTestKit.Put(environment, 1, [1]);
    }
}
