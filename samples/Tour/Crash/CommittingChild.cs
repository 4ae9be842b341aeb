using System.Text;
using Voron;

namespace Tour.Crash;

/// <summary>
/// The process that is killed. Several callers commit without an end, and each writes a line with its number and that of its commit when the
/// commit has been acknowledged.
/// </summary>
internal static class CommittingChild
{
    public static async Task<int> RunAsync(string directory)
    {
        await using var environment = StorageEnvironment.Open(directory, CommitTrail.Options);
        await using var output = Console.OpenStandardOutput();
        using var turn = new SemaphoreSlim(1);
        int[] last;
        using (var reading = environment.BeginRead())
            last = CommitTrail.ReadLast(reading);

        // The parent writes nothing to the input, which ends with the parent: a child that is left alone must not fill the disk.
        var parent = Task.Factory.StartNew(
            static () => Console.OpenStandardInput().ReadByte(), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        var callers = Enumerable.Range(0, CommitTrail.Callers).Select(caller => Task.Run(() => CommitAsync(caller, last[caller] + 1)));
        await await Task.WhenAny([.. callers, parent]);
        return 0;

        async Task CommitAsync(int caller, int first)
        {
            for (var number = first; ; number++)
            {
                await environment.WriteAsync((caller, number), static (writing, commit) => CommitTrail.Write(writing, commit.caller, commit.number));
                var line = Encoding.ASCII.GetBytes($"{caller} {number}\n");
                await turn.WaitAsync();
                try
                {
                    // One call for a line: a pipe takes all of it or nothing.
                    output.Write(line);
                }
                finally
                {
                    turn.Release();
                }
            }
        }
    }
}
