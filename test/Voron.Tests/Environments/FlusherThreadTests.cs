namespace Voron.Tests.Environments;

public sealed class FlusherThreadTests
{
    [Fact]
    public void What_an_observer_throws_on_the_flusher_s_thread_ends_nothing()
    {
        using var flushed = new ManualResetEventSlim();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            FlushInterval = TimeSpan.FromMilliseconds(10),
            FlushObserver = _ =>
            {
                flushed.Set();
                throw new NotSupportedException("thrown by an observer");
            },
        });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("users").Put("a"u8, "b"u8);
            writing.Commit();
        }

        flushed.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken).Should().BeTrue();
        flushed.Reset();
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree("users").Put("c"u8, "d"u8);
            writing.Commit();
        }

        flushed.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken).Should().BeTrue("the flusher goes on");
        using var reading = environment.BeginRead();
        reading.OpenTree("users").Contains("a"u8).Should().BeTrue();
    }
}
