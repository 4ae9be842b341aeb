using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Voron.Extensions.Caching;

/// <summary>Writes the times of access and deletes expired entries, at intervals.</summary>
internal sealed partial class CacheSweeper : IAsyncDisposable
{
    /// <summary>The number of entries changed in one transaction: it stays short for the writers beside it.</summary>
    private const int BatchSize = 500;

    private readonly StorageEnvironment _environment;
    private readonly VoronCacheOptions _options;
    private readonly TimeProvider _time;
    private readonly ConcurrentDictionary<string, long> _accesses;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stop = new();

    // One sweep at a time: the timer's and a caller's would delete the same entries. Taken before the writer, never inside an operation.
    private readonly SemaphoreSlim _sweeping = new(1, 1);
    private readonly Task _timer;

    public CacheSweeper(
        StorageEnvironment environment, VoronCacheOptions options, TimeProvider time, ConcurrentDictionary<string, long> accesses, ILogger logger)
    {
        _environment = environment;
        _options = options;
        _time = time;
        _accesses = accesses;
        _logger = logger;
        var timer = new PeriodicTimer(options.ExpirationScanInterval, time);
        _timer = RunAsync(timer);
    }

    /// <summary>Writes the times of access, then deletes what has expired and what is too much.</summary>
    /// <returns>The number of entries deleted.</returns>
    public async Task<long> SweepAsync(CancellationToken token)
    {
        await _sweeping.WaitAsync(token).ConfigureAwait(false);
        try
        {
            // Entries that were read in time must not be deleted: their times of access come first.
            var now = _time.GetUtcNow().UtcTicks;
            await WriteAccessesAsync(token).ConfigureAwait(false);
            var deleted = 0L;
            var excess = _options.SizeLimitBytes is { } limit ? Measure() - limit : 0;
            while (true)
            {
                var removed = await RemoveAsync(now, excess, token).ConfigureAwait(false);
                deleted += removed.Entries;
                excess -= removed.Bytes;
                if (removed.Entries < BatchSize)
                    return deleted;
            }
        }
        finally
        {
            _sweeping.Release();
        }
    }

    /// <summary>Stops the timer, waits for a sweep under way, and writes the times of access.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _timer.ConfigureAwait(false);
        await _sweeping.WaitAsync().ConfigureAwait(false);
        try
        {
            await WriteAccessesAsync(CancellationToken.None).ConfigureAwait(false);
        }
        catch (Exception e) when (e is VoronException or ObjectDisposedException)
        {
            AccessesLost(_logger, _accesses.Count, e);
        }

        // A sweep that a caller began a moment ago runs on, or fails because the environment is closed.
        _sweeping.Release();
        _stop.Dispose();
    }

    private async Task RunAsync(PeriodicTimer timer)
    {
        using (timer)
        {
            try
            {
                while (await timer.WaitForNextTickAsync(_stop.Token).ConfigureAwait(false))
                    await TrySweepAsync().ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                // The cache is being closed.
            }
        }
    }

    // A sweep that fails, on a full disk for example, is tried again at the next interval.
    private async Task TrySweepAsync()
    {
        try
        {
            await SweepAsync(_stop.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is VoronException or ObjectDisposedException or InvalidOperationException)
        {
            SweepFailed(_logger, _environment.Path, e);
        }
    }

    private async Task WriteAccessesAsync(CancellationToken token)
    {
        foreach (var batch in _accesses.ToArray().Chunk(BatchSize))
        {
            await _environment.WriteAsync(writing => Touch(writing, batch), token).ConfigureAwait(false);

            // Later accesses to the same entries stay.
            foreach (var access in batch)
                _accesses.TryRemove(access);
        }
    }

    private void Touch(WriteTransaction writing, KeyValuePair<string, long>[] batch)
    {
        var trees = new CacheTrees(writing, _options);
        Span<byte> buffer = stackalloc byte[CacheKey.MaxLength];
        foreach (var (key, accessedAt) in batch)
            trees.Touch(CacheKey.Write(key, buffer), accessedAt);
    }

    private async Task<(int Entries, long Bytes)> RemoveAsync(long now, long excess, CancellationToken token)
    {
        var removed = (Entries: 0, Bytes: 0L);
        await _environment.WriteAsync(writing => removed = new CacheTrees(writing, _options).RemoveFirst(now, excess, BatchSize), token)
            .ConfigureAwait(false);
        return removed;
    }

    private long Measure()
    {
        using var reading = _environment.BeginRead();
        using var cursor = reading.OpenTree(_options.TreeName).OpenCursor();
        var bytes = 0L;
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
            bytes += cursor.ValueLength - CacheEntryTimes.Size;
        return bytes;
    }

    [LoggerMessage(EventId = 1, EventName = "SweepFailed", Level = LogLevel.Warning, Message = "The cache in {Path} could not delete expired entries. It tries again at the next interval.")]
    private static partial void SweepFailed(ILogger logger, string path, Exception exception);

    [LoggerMessage(EventId = 2, EventName = "AccessesLost", Level = LogLevel.Warning, Message = "The cache could not write {Count} times of access when it was closed. These entries may expire earlier.")]
    private static partial void AccessesLost(ILogger logger, int count, Exception exception);
}
