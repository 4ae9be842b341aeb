using Voron.Simulation.Memory;

namespace Voron.Tests.Transactions;

/// <summary>
/// A commit that finds no memory rolls back, whether there was none for the task of its caller or for anything later. The transaction stayed open
/// in the first case; one of the engine's own then kept the writer, because it has no handle that could be disposed of.
/// </summary>
[Quick]
public sealed class CommitMemoryTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_commit_without_memory_for_its_task_ends_the_transaction()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        var writing = environment.BeginWrite(TestWait.Limit, Token);
        writing.CreateTree("items").Put("key"u8, "value"u8);
        var watch = new MemoryWatch();
        watch.FailAt(0, forEver: false);
        OutOfMemoryException? failure = null;
        using (new WatchedThread(watch))
        {
            try
            {
                await writing.CommitAsync(CancellationToken.None);
            }
            catch (OutOfMemoryException e)
            {
                failure = e;
            }
        }

        failure.Should().NotBeNull();
        watch.Refused.Should().Be(1);
        using (var next = environment.BeginWrite(TimeSpan.Zero, Token))
        {
            next.TryOpenTree("items", out _).Should().BeFalse();
            next.CreateTree("items").Put("key"u8, "value"u8);
            await next.CommitAsync(Token);
        }

        using var reading = environment.BeginRead();
        reading.OpenTree("items").Count.Should().Be(1);
    }
}
