using System.Buffers.Binary;
using Voron;
using Voron.KillTarget;

// Commits until it is killed. Arguments: directory, number of the first commit, "hold" to only keep the directory open.
// Standard output gets eight bytes of zeros when the environment is open, then the number of each commit as it is acknowledged.
using var output = Console.OpenStandardOutput();
using var environment = StorageEnvironment.Open(args[0], KillWorkload.Options());
Tell(0);
if (args is [_, _, "hold"])
{
    Thread.Sleep(Timeout.Infinite);
    return;
}

for (var number = long.Parse(args[1], System.Globalization.CultureInfo.InvariantCulture); ; number++)
{
    using var writing = environment.BeginWrite();
    KillWorkload.Apply(writing, number);
    writing.Commit();
    Tell(number);
}

void Tell(long number)
{
    Span<byte> bytes = stackalloc byte[sizeof(long)];
    BinaryPrimitives.WriteInt64LittleEndian(bytes, number);
    output.Write(bytes);
    output.Flush();
}
