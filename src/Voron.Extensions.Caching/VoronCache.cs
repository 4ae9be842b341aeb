using System.Buffers;
using System.Collections.Concurrent;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Voron.Extensions.Caching;

/// <summary>
/// A distributed cache that keeps its entries in a Voron environment: on the local disk, so that they survive restarts. All members may be
/// called by several threads at once.
/// </summary>
/// <remarks>
/// <para>An entry stored by <c>Set</c> is visible to all readers when the call returns, and durable then or soon after: see
/// <see cref="VoronCacheOptions.Durability"/>. Reads never wait for a write, and write nothing: access times, which extend sliding expirations, are
/// written at each <see cref="VoronCacheOptions.ExpirationScanInterval"/> and when the cache is closed.</para>
/// <para>Expiration uses the computer's clock. If the clock is set back, entries expire later by the same amount.</para>
/// </remarks>
public sealed class VoronCache : IBufferDistributedCache, IDisposable, IAsyncDisposable
{
    private readonly StorageEnvironment _environment;
    private readonly bool _ownsEnvironment;
    private readonly VoronCacheOptions _options;
    private readonly TimeProvider _time;
    private readonly CacheSweeper _sweeper;

    // When each entry that slides was read last, since these times were written.
    private readonly ConcurrentDictionary<string, long> _accesses = new(StringComparer.Ordinal);
    private int _disposed;

    /// <summary>Opens a cache in the directory that the options name. The environment is closed with the cache.</summary>
    /// <exception cref="ArgumentException">The options are not valid, or name no directory.</exception>
    /// <exception cref="VoronException">The environment cannot be opened: see <see cref="StorageEnvironment.Open"/>.</exception>
    public VoronCache(IOptions<VoronCacheOptions> options, TimeProvider? timeProvider = null, ILoggerFactory? loggerFactory = null)
        : this(OpenDirectory(options), true, options.Value, timeProvider, loggerFactory)
    {
    }

    /// <summary>Opens a cache in an environment of the application, which stays open when the cache is closed.</summary>
    /// <exception cref="ArgumentException">The options are not valid.</exception>
    /// <exception cref="InvalidOperationException">The environment is open for reading only.</exception>
    public VoronCache(
        StorageEnvironment environment, VoronCacheOptions options, TimeProvider? timeProvider = null, ILoggerFactory? loggerFactory = null)
        : this(environment, false, options, timeProvider, loggerFactory)
    {
    }

    private VoronCache(
        StorageEnvironment environment, bool ownsEnvironment, VoronCacheOptions options, TimeProvider? timeProvider, ILoggerFactory? loggerFactory)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(options);
        try
        {
            options.Validate();
            _environment = environment;
            _ownsEnvironment = ownsEnvironment;
            _options = options;
            _time = timeProvider ?? TimeProvider.System;

            // From here on, readers find both trees.
            environment.Write(writing => _ = new CacheTrees(writing, options));
            var logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<VoronCache>();
            _sweeper = new CacheSweeper(environment, options, _time, _accesses, logger);
        }
        catch when (ownsEnvironment)
        {
            environment.Dispose();
            throw;
        }
    }

    private long Now => _time.GetUtcNow().UtcTicks;

    /// <summary>Returns a copy of the value of a key; null if there is none, or if it has expired.</summary>
    public byte[]? Get(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        using var reading = BeginRead();
        var tree = reading.OpenTree(_options.TreeName);
        return tree.TryGet(CacheKey.Write(key, stackalloc byte[CacheKey.MaxLength]), out var entry) && TryAccess(key, entry)
            ? entry[CacheEntryTimes.Size..].ToArray()
            : null;
    }

    /// <inheritdoc cref="Get"/>
    /// <remarks>Runs on the calling thread: it reads mapped memory, which may have to come from the disk.</remarks>
    public Task<byte[]?> GetAsync(string key, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        return token.IsCancellationRequested ? Task.FromCanceled<byte[]?>(token) : Task.FromResult(Get(key));
    }

    /// <summary>Writes the value of a key to a buffer; false, with nothing written, if there is none, or if it has expired.</summary>
    public bool TryGet(string key, IBufferWriter<byte> destination)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(destination);
        using var reading = BeginRead();
        var tree = reading.OpenTree(_options.TreeName);
        if (!tree.TryGet(CacheKey.Write(key, stackalloc byte[CacheKey.MaxLength]), out var entry) || !TryAccess(key, entry))
            return false;
        destination.Write(entry[CacheEntryTimes.Size..]);
        return true;
    }

    /// <inheritdoc cref="TryGet"/>
    public ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(destination);
        return token.IsCancellationRequested ? ValueTask.FromCanceled<bool>(token) : ValueTask.FromResult(TryGet(key, destination));
    }

    /// <summary>Sets the value of a key. <see cref="VoronCacheOptions.Durability"/> determines its durability when the call returns.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The absolute expiration is not in the future.</exception>
    /// <exception cref="StorageFullException">There is no room on the disk.</exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options)
    {
        ArgumentNullException.ThrowIfNull(value);
        Set(key, new ReadOnlySequence<byte>(value), options);
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    public void Set(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options)
    {
        var times = TimesOf(key, options);
        _environment.Write(writing => Put(writing, key, times, value));
        _accesses.TryRemove(key, out _);
    }

    /// <summary>Sets the value of a key. <see cref="VoronCacheOptions.Durability"/> determines its durability when the task completes.</summary>
    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(value);
        return SetAsync(key, new ReadOnlySequence<byte>(value), options, token).AsTask();
    }

    /// <inheritdoc cref="SetAsync(string, byte[], DistributedCacheEntryOptions, CancellationToken)"/>
    public ValueTask SetAsync(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        var times = TimesOf(key, options);
        return SetAfterChecks(key, value, times, token);
    }

    /// <summary>Records an access to the value of a key, like <see cref="Get"/>, without copying the value.</summary>
    public void Refresh(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        using var reading = BeginRead();
        var tree = reading.OpenTree(_options.TreeName);
        if (tree.TryGet(CacheKey.Write(key, stackalloc byte[CacheKey.MaxLength]), out var entry))
            TryAccess(key, entry);
    }

    /// <inheritdoc cref="Refresh"/>
    public Task RefreshAsync(string key, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (token.IsCancellationRequested)
            return Task.FromCanceled(token);
        Refresh(key);
        return Task.CompletedTask;
    }

    /// <summary>Removes a key and its value, if there is one. <see cref="VoronCacheOptions.Durability"/> applies.</summary>
    public void Remove(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        ThrowIfDisposed();
        _environment.Write(writing => Delete(writing, key));
        _accesses.TryRemove(key, out _);
    }

    /// <summary>Removes a key and its value, if there is one. <see cref="VoronCacheOptions.Durability"/> applies.</summary>
    public async Task RemoveAsync(string key, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ThrowIfDisposed();
        await _environment.WriteAsync(writing => Delete(writing, key), token).ConfigureAwait(false);
        _accesses.TryRemove(key, out _);
    }

    /// <summary>
    /// Writes access times, and deletes expired entries and entries above the size limit. A timer does the same at each
    /// <see cref="VoronCacheOptions.ExpirationScanInterval"/>.
    /// </summary>
    /// <returns>The number of entries deleted.</returns>
    public Task<long> RemoveExpiredAsync(CancellationToken token = default)
    {
        ThrowIfDisposed();
        return _sweeper.SweepAsync(token);
    }

    /// <summary>Closes the cache, and its environment if it has its own. Later calls throw <see cref="ObjectDisposedException"/>.</summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    /// <inheritdoc cref="Dispose"/>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;
        await _sweeper.DisposeAsync().ConfigureAwait(false);
        if (_ownsEnvironment)
            _environment.Dispose();
    }

    private static StorageEnvironment OpenDirectory(IOptions<VoronCacheOptions> options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (string.IsNullOrEmpty(options.Value.Directory))
        {
            throw new ArgumentException(
                $"The options of the cache name no {nameof(VoronCacheOptions.Directory)}. Set it, or give the cache an open environment.", nameof(options));
        }

        return StorageEnvironment.Open(options.Value.Directory);
    }

    private CacheEntryTimes TimesOf(string key, DistributedCacheEntryOptions options)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(options);
        ThrowIfDisposed();
        return CacheEntryTimes.Of(options, _options.DefaultSlidingExpiration, Now);
    }

    private async ValueTask SetAfterChecks(string key, ReadOnlySequence<byte> value, CacheEntryTimes times, CancellationToken token)
    {
        await _environment.WriteAsync(writing => Put(writing, key, times, value), token).ConfigureAwait(false);
        _accesses.TryRemove(key, out _);
    }

    private void Put(WriteTransaction writing, string key, CacheEntryTimes times, in ReadOnlySequence<byte> value) =>
        new CacheTrees(writing, _options).Set(CacheKey.Write(key, stackalloc byte[CacheKey.MaxLength]), times, value);

    private void Delete(WriteTransaction writing, string key) =>
        new CacheTrees(writing, _options).Remove(CacheKey.Write(key, stackalloc byte[CacheKey.MaxLength]));

    private ReadTransaction BeginRead()
    {
        ThrowIfDisposed();
        return _environment.BeginRead();
    }

    // False if the entry has expired; notes the access otherwise.
    private bool TryAccess(string key, ReadOnlySpan<byte> entry)
    {
        var times = CacheEntryTimes.Read(entry);
        var now = Now;
        if (times.Expires <= now && (!_accesses.TryGetValue(key, out var accessed) || times.AccessedAt(accessed).Expires <= now))
            return false;
        if (times.Sliding > 0)
            _accesses[key] = now;
        return true;
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
}
