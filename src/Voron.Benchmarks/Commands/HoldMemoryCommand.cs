using System.CommandLine;
using Voron.Benchmarks.Processes;

namespace Voron.Benchmarks.Commands;

/// <summary>The balloon of <see cref="MemoryLimit"/>: started by other commands.</summary>
internal static class HoldMemoryCommand
{
    public static Command Create()
    {
        var leave = new Argument<long>("bytes") { Description = "Bytes to leave available." };
        var command = new Command("hold-memory", "Locks memory until so much is left, and holds it until standard input ends.") { leave };
        command.Hidden = true;
        command.SetAction(parsed => MemoryBalloon.Hold(parsed.GetValue(leave)));
        return command;
    }
}
