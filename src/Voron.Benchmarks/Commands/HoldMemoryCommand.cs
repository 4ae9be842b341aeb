using System.CommandLine;
using Voron.Benchmarks.Processes;

namespace Voron.Benchmarks.Commands;

/// <summary>Runs the balloon of <see cref="MemoryLimit"/>. Other commands start it.</summary>
internal static class HoldMemoryCommand
{
    public static Command Create()
    {
        var leave = new Argument<long>("bytes") { Description = "Bytes that stay available." };
        var command = new Command(
            "hold-memory", "Locks memory until only the given number of bytes is available, and holds it until standard input ends.") { leave };
        command.Hidden = true;
        command.SetAction(parsed => MemoryBalloon.Hold(parsed.GetValue(leave)));
        return command;
    }
}
