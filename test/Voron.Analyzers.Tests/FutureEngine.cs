namespace Voron.Analyzers.Tests;

/// <summary>
/// An assembly that takes the place of the engine, with members that only their shapes make known: the rules must cover members that are added
/// to the engine later.
/// </summary>
internal static class FutureEngine
{
    public const string Source = """
        using System;
        using System.Buffers;
        using System.Collections.Generic;
        using System.IO;
        using System.Threading;
        using System.Threading.Tasks;

        namespace Voron
        {
            public sealed class StorageEnvironment : IDisposable
            {
                public ReadTransaction BeginRead() => default;
                public WriteTransaction BeginWrite() => default;
                public ValueTask<StagedValue> StageAsync(Stream stream) => default;
                public ValueTask<T> WriteAsync<T>(Func<WriteTransaction, T> operation) => default;
                public ValueTask<T> WriteAsync<TState, T>(TState state, Func<TState, WriteTransaction, T> operation) => default;
                public void Write<TState>(TState state, Action<WriteTransaction, TState> operation) { }
                public void Dispose() { }
            }

            public sealed class StagedValue : IAsyncDisposable { public ValueTask DisposeAsync() => default; }

            public readonly struct ReadTransaction : IDisposable
            {
                public ReadTransaction Fork() => default;
                public Tree OpenTree(string name) => default;
                public void Dispose() { }
            }

            public readonly struct WriteTransaction : IDisposable, IAsyncDisposable
            {
                public WriteTree CreateTree(string name) => default;
                public void Commit() { }
                public void Dispose() { }
                public ValueTask DisposeAsync() => default;
            }

            public readonly struct KeyRange { public static KeyRange Prefix(ReadOnlySpan<byte> prefix) => default; }

            public readonly struct Tree
            {
                public byte[]? Get(ReadOnlySpan<byte> key) => null;
                public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> target) => false;
                public bool TryCopyTo(ReadOnlySpan<byte> key, Span<byte> target, out int written) { written = 0; return false; }
                public bool First(out TreeEntry entry) { entry = default; return false; }
                public bool Floor(ReadOnlySpan<byte> key, out TreeEntry entry) { entry = default; return false; }
                public TreeRange Range(KeyRange range) => default;
                public long Count(KeyRange range) => 0;
            }

            public readonly struct WriteTree
            {
                public bool First(out TreeEntry entry) { entry = default; return false; }
                public byte[]? Get(ReadOnlySpan<byte> key) => null;
                public TreeRange Range(KeyRange range) => default;
                public long Count(KeyRange range) => 0;
                public long DeleteRange(KeyRange range) => 0;
                public void Clear() { }
                public long Increment(ReadOnlySpan<byte> key, long by) => 0;
                public bool CompareAndSet(ReadOnlySpan<byte> key, ReadOnlySpan<byte> expected, ReadOnlySpan<byte> value) => false;
                public void Put(ReadOnlySpan<byte> key, StagedValue value) { }
                public ValueWriter OpenWriter(ReadOnlySpan<byte> key) => default;
                public static implicit operator Tree(WriteTree tree) => default;
            }

            public ref struct ValueWriter : IBufferWriter<byte>, IDisposable
            {
                public void Advance(int count) { }
                public Memory<byte> GetMemory(int sizeHint = 0) => default;
                public Span<byte> GetSpan(int sizeHint = 0) => default;
                public void Commit() { }
                public void Dispose() { }
            }

            public readonly ref struct TreeEntry
            {
                public ReadOnlySpan<byte> Key => default;
                public ReadOnlySpan<byte> Value => default;
                public void Deconstruct(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) { key = default; value = default; }
            }

            public ref struct TreeRange : IDisposable
            {
                public TreeEntry Current => default;
                public TreeRange Reverse() => this;
                public TreeRange Take(int count) => this;
                public TreeRange GetEnumerator() => this;
                public bool MoveNext() => false;
                public void Dispose() { }
            }
        }
        """;

    /// <summary>Returns a file with members of a class, which may contain marks.</summary>
    public static string Program(string members) => $$"""
        using System;
        using System.Buffers;
        using System.Collections.Generic;
        using System.IO;
        using System.Threading.Tasks;
        using Voron;

        class Program
        {
            static StorageEnvironment env = new();
            static byte[] key = [1];
            static void Use(ReadOnlySpan<byte> bytes) { }
            static void Use(long number) { }

        {{members}}
        }

        """;
}
