using Voron.Trees;

namespace Voron.Tests.Dictionaries;

/// <summary>Dictionaries come and go while others read and write.</summary>
public sealed class DictionaryLifeTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task The_background_trains_a_dictionary_when_a_tree_has_a_mebibyte()
    {
        var options = CompressionKit.Options();
        options.BackgroundFlush = true;
        using var environment = StorageEnvironment.Open(_directory.Path, options);
        environment.Compress(ValueCompression.Fast);
        var from = 0;
        await TestWait.UntilAsync(() =>
        {
            environment.Fill(from, 500);
            from = (from + 500) % 200_000;
            return Dictionaries(environment) > 0;
        });
        Dictionaries(environment).Should().Be(1);
        environment.AssertSound();
    }

    [Fact]
    public void A_commit_that_cannot_ask_for_a_training_releases_the_writer()
    {
        var options = CompressionKit.Options();
        options.BackgroundFlush = true;
        using var environment = StorageEnvironment.OpenInMemory(options);
        environment.Compress();
        var asked = 0;
        environment.Internals.Engine.OnTrainingWanted = _ =>
        {
            asked++;
            throw new InsufficientMemoryException();
        };
        environment.Fill(0, 4000);
        asked.Should().BePositive();
        using var writing = environment.BeginWrite(TestWait.Limit, CompressionKit.Token);
        writing.OpenTree(CompressionKit.TreeName).Count.Should().Be(4000);
    }

    [Fact]
    public async Task Of_two_trainings_one_installs_a_dictionary()
    {
        using var environment = Fill();
        var both = await Task.WhenAll(
            environment.TrainDictionaryAsync(CompressionKit.TreeName, CompressionKit.Token).AsTask(),
            environment.TrainDictionaryAsync(CompressionKit.TreeName, CompressionKit.Token).AsTask());
        both.Count(isInstalled => isInstalled).Should().Be(1);
        Dictionaries(environment).Should().Be(1);
    }

    [Fact]
    public async Task A_recompression_that_was_cancelled_continues_at_the_next_call()
    {
        using var environment = Fill();
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        var cancelled = () => environment.RecompressAsync(CompressionKit.TreeName, stop.Token).AsTask();
        (await cancelled.Should().ThrowAsync<OperationCanceledException>()).Which.CancellationToken.Should().Be(stop.Token);
        (await environment.RecompressAsync(CompressionKit.TreeName, CompressionKit.Token)).Rewritten.Should().Be(2000);
        (await environment.RecompressAsync(CompressionKit.TreeName, CompressionKit.Token)).Rewritten.Should().Be(0);
        environment.AssertSound();
    }

    [Fact]
    public async Task Writers_and_readers_continue_beside_a_recompression()
    {
        using var environment = Fill();
        using var old = environment.BeginRead();
        using var stop = new CancellationTokenSource();
        var writer = Task.Run(
            () =>
            {
                for (var round = 0; !stop.IsCancellationRequested; round++)
                    environment.Fill(round % 20 * 100, 100);
            },
            CompressionKit.Token);
        for (var round = 0; round < 5; round++)
        {
            environment.Write(writing => writing.CompressValues(CompressionKit.TreeName, (ValueCompression)(round % 3)));
            await environment.RecompressAsync(CompressionKit.TreeName, CompressionKit.Token);
        }

        await stop.CancelAsync();
        await writer;
        using var reading = environment.BeginRead();
        for (var i = 0; i < 2000; i++)
        {
            reading.OpenTree(CompressionKit.TreeName).Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i));
            old.OpenTree(CompressionKit.TreeName).Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i));
        }

        environment.AssertSound();
    }

    private StorageEnvironment Fill()
    {
        var environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
        environment.Compress();
        environment.Fill(0, 2000);
        return environment;
    }

    // Without the settings.
    private static long Dictionaries(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetSystemTrees().Where(tree => SystemTree.IsDictionaries(tree.Name)).Sum(tree => tree.Header.EntryCount - 1);
    }
}
