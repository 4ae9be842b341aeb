using System.Buffers;
using Microsoft.Extensions.Caching.Distributed;
using Voron.Extensions.Caching;

namespace Voron.Extensions.Tests.Caching;

/// <summary>What the documentation of IDistributedCache and IBufferDistributedCache promises, by each way to call it.</summary>
[Quick]
public sealed class DistributedCacheTests
{
    private static readonly DistributedCacheEntryOptions Forever = new();

    public enum CallKind
    {
        Sync,
        Async,
        Buffer,
        BufferAsync,
    }

    public static TheoryData<CallKind> Calls => [.. Enum.GetValues<CallKind>()];

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task A_value_is_returned_as_it_was_set(CallKind call)
    {
        using var fixture = new CacheFixture();
        foreach (var length in new[] { 0, 1, 100, 4_000, 20_000, 3 << 20 })
        {
            var value = new byte[length];
            new Random(length).NextBytes(value);
            await Set(fixture.Cache, call, $"key {length}", value, Forever);
            (await Get(fixture.Cache, call, $"key {length}")).Should().Equal(value);
        }

        fixture.Reopen();
        (await Get(fixture.Cache, call, "key 20000")).Should().HaveCount(20_000);
    }

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task A_missing_key_has_no_value(CallKind call)
    {
        using var fixture = new CacheFixture();
        (await Get(fixture.Cache, call, "missing")).Should().BeNull();
        await fixture.Cache.RefreshAsync("missing", TestContext.Current.CancellationToken);
        fixture.Cache.Remove("missing");
        (await Get(fixture.Cache, call, "missing")).Should().BeNull();
    }

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task Setting_replaces_value_and_expiration(CallKind call)
    {
        using var fixture = new CacheFixture();
        await Set(fixture.Cache, call, "key", [1], CacheFixture.After(TimeSpan.FromMinutes(1)));
        await Set(fixture.Cache, call, "key", [2, 3], CacheFixture.After(TimeSpan.FromMinutes(10)));
        fixture.Time.Advance(TimeSpan.FromMinutes(5));
        (await Get(fixture.Cache, call, "key")).Should().Equal(2, 3);
        (await fixture.Cache.RemoveExpiredAsync(TestContext.Current.CancellationToken)).Should().Be(0, "the old time must have left the index");
        (await Get(fixture.Cache, call, "key")).Should().Equal(2, 3);
    }

    [Fact]
    public async Task A_removed_key_has_no_value()
    {
        using var fixture = new CacheFixture();
        fixture.Cache.Set("a", [1], Forever);
        fixture.Cache.Set("b", [2], Forever);
        fixture.Cache.Remove("a");
        await fixture.Cache.RemoveAsync("b", TestContext.Current.CancellationToken);
        fixture.Cache.Get("a").Should().BeNull();
        fixture.Cache.Get("b").Should().BeNull();
        fixture.Reopen();
        fixture.Cache.Get("a").Should().BeNull();
    }

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task An_absolute_expiration_holds_however_often_the_value_is_read(CallKind call)
    {
        using var fixture = new CacheFixture();
        await Set(fixture.Cache, call, "relative", [1], CacheFixture.After(TimeSpan.FromMinutes(2)));
        await Set(fixture.Cache, call, "fixed", [2], new() { AbsoluteExpiration = fixture.Time.GetUtcNow().AddMinutes(2).ToOffset(TimeSpan.FromHours(5)) });
        fixture.Time.Advance(TimeSpan.FromMinutes(2) - TimeSpan.FromTicks(1));
        (await Get(fixture.Cache, call, "relative")).Should().Equal(1);
        (await Get(fixture.Cache, call, "fixed")).Should().Equal(2);
        fixture.Time.Advance(TimeSpan.FromTicks(1));
        (await Get(fixture.Cache, call, "relative")).Should().BeNull();
        (await Get(fixture.Cache, call, "fixed")).Should().BeNull();
    }

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task A_sliding_expiration_begins_again_with_each_access(CallKind call)
    {
        using var fixture = new CacheFixture();
        await Set(fixture.Cache, call, "read", [1], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        await Set(fixture.Cache, call, "refreshed", [2], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        await Set(fixture.Cache, call, "left alone", [3], CacheFixture.Sliding(TimeSpan.FromMinutes(2)));
        for (var i = 0; i < 5; i++)
        {
            fixture.Time.Advance(TimeSpan.FromMinutes(2) - TimeSpan.FromTicks(1));
            (await Get(fixture.Cache, call, "read")).Should().Equal(1);
            fixture.Cache.Refresh("refreshed");
        }

        (await Get(fixture.Cache, call, "left alone")).Should().BeNull();
        (await Get(fixture.Cache, call, "refreshed")).Should().Equal(2);
        fixture.Time.Advance(TimeSpan.FromMinutes(2));
        (await Get(fixture.Cache, call, "read")).Should().BeNull();
        (await Get(fixture.Cache, call, "refreshed")).Should().BeNull();
    }

    [Theory]
    [MemberData(nameof(Calls))]
    public async Task A_sliding_expiration_ends_with_the_absolute_one(CallKind call)
    {
        using var fixture = new CacheFixture();
        await Set(fixture.Cache, call, "key", [1], new() { SlidingExpiration = TimeSpan.FromMinutes(2), AbsoluteExpirationRelativeToNow = TimeSpan.FromMinutes(5) });
        fixture.Time.Advance(TimeSpan.FromMinutes(1.9));
        (await Get(fixture.Cache, call, "key")).Should().NotBeNull();
        fixture.Time.Advance(TimeSpan.FromMinutes(1.9));
        (await Get(fixture.Cache, call, "key")).Should().NotBeNull();
        fixture.Time.Advance(TimeSpan.FromMinutes(1.2));
        (await Get(fixture.Cache, call, "key")).Should().BeNull();
    }

    [Fact]
    public void Any_text_is_a_key_of_its_own()
    {
        using var fixture = new CacheFixture();
        var texts = new[]
        {
            "", " ", "a", "A", "\0", "a\0", "é", "e\u0301", new string('k', 511), new string('k', 512), new string('k', 5_000), "\ud800", "\udc00", "x\ud800",
            "\ufffd", new string('\ud800', 600),
        };
        for (var i = 0; i < texts.Length; i++)
            fixture.Cache.Set(texts[i], [(byte)i], Forever);
        for (var i = 0; i < texts.Length; i++)
            fixture.Cache.Get(texts[i]).Should().Equal([(byte)i], "the key is number {0}", i);
    }

    [Fact]
    public async Task Wrong_calls_name_the_argument_and_change_nothing()
    {
        using var fixture = new CacheFixture();
        var cache = fixture.Cache;
        var now = fixture.Time.GetUtcNow();
        cache.Set("key", [1], Forever);
        var wrong = new (Action Call, string Name)[]
        {
            (() => cache.Get(null!), "key"),
            (() => cache.Set(null!, [], Forever), "key"),
            (() => cache.Set("key", (byte[])null!, Forever), "value"),
            (() => cache.Set("key", [], null!), "options"),
            (() => cache.Set("key", [], new() { AbsoluteExpiration = now }), "options"),
            (() => cache.Set("key", [], new() { AbsoluteExpiration = now.AddDays(-1) }), "options"),
            (() => cache.Refresh(null!), "key"),
            (() => cache.Remove(null!), "key"),
            (() => cache.TryGet("key", null!), "destination"),
            (() => cache.TryGet(null!, new ArrayBufferWriter<byte>()), "key"),
            (() => _ = cache.GetAsync(null!), "key"),
            (() => _ = cache.SetAsync("key", (byte[])null!, Forever), "value"),
            (() => _ = cache.RefreshAsync(null!), "key"),
        };
        foreach (var (call, name) in wrong)
            call.Should().Throw<ArgumentException>().WithParameterName(name);
        (await Get(cache, CallKind.Sync, "key")).Should().Equal(1);
    }

    [Fact]
    public async Task A_cancelled_call_changes_nothing()
    {
        using var fixture = new CacheFixture();
        var cancelled = new CancellationToken(canceled: true);
        var cache = fixture.Cache;
        cache.Set("key", [1], Forever);
        var calls = new Func<Task>[]
        {
            () => cache.GetAsync("key", cancelled), () => cache.SetAsync("key", [2], Forever, cancelled), () => cache.RemoveAsync("key", cancelled),
            () => cache.RefreshAsync("key", cancelled), () => cache.TryGetAsync("key", new ArrayBufferWriter<byte>(), cancelled).AsTask(),
        };
        foreach (var call in calls)
            await call.Should().ThrowAsync<OperationCanceledException>();
        cache.Get("key").Should().Equal(1);
    }

    [Fact]
    public async Task A_closed_cache_says_so()
    {
        using var fixture = new CacheFixture();
        var cache = fixture.Cache;
        cache.Dispose();
        cache.Dispose();
        await cache.DisposeAsync();
        var calls = new Action[]
        {
            () => cache.Get("key"), () => cache.Set("key", [], Forever), () => cache.Refresh("key"), () => cache.Remove("key"),
            () => cache.TryGet("key", new ArrayBufferWriter<byte>()), () => _ = cache.RemoveExpiredAsync(TestContext.Current.CancellationToken),
        };
        foreach (var call in calls)
            call.Should().Throw<ObjectDisposedException>();
    }

    private static async Task Set(VoronCache cache, CallKind call, string key, byte[] value, DistributedCacheEntryOptions options)
    {
        var token = TestContext.Current.CancellationToken;
        switch (call)
        {
            case CallKind.Sync:
                cache.Set(key, value, options);
                break;
            case CallKind.Async:
                await cache.SetAsync(key, value, options, token);
                break;
            case CallKind.Buffer:
                cache.Set(key, Split(value), options);
                break;
            default:
                await cache.SetAsync(key, Split(value), options, token);
                break;
        }
    }

    private static async Task<byte[]?> Get(VoronCache cache, CallKind call, string key)
    {
        var token = TestContext.Current.CancellationToken;
        var buffer = new ArrayBufferWriter<byte>();
        return call switch
        {
            CallKind.Sync => cache.Get(key),
            CallKind.Async => await cache.GetAsync(key, token),
            CallKind.Buffer => cache.TryGet(key, buffer) ? buffer.WrittenSpan.ToArray() : null,
            _ => await cache.TryGetAsync(key, buffer, token) ? buffer.WrittenSpan.ToArray() : null,
        };
    }

    // Two segments, as a pipe or a serializer gives them.
    private static ReadOnlySequence<byte> Split(byte[] value)
    {
        var first = new Segment(value.AsMemory(0, value.Length / 2), 0);
        var second = first.Append(value.AsMemory(value.Length / 2));
        return new ReadOnlySequence<byte>(first, 0, second, second.Memory.Length);
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, long index)
        {
            Memory = memory;
            RunningIndex = index;
        }

        public Segment Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Segment(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
