using Voron.Benchmarks.Peers;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>A named database, and its cursor while a read transaction lasts.</summary>
internal sealed unsafe class LmdbDatabase(uint handle)
{
    private nint _cursor;

    public void Put(nint writing, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, uint flags = 0)
    {
        fixed (byte* keyData = key, valueData = value)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            var nativeValue = new LmdbValue(valueData, value.Length);
            LmdbEngine.Check(LmdbNative.Put(writing, handle, &nativeKey, &nativeValue, flags));
        }
    }

    public bool TryGet(nint transaction, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            LmdbValue nativeValue = default;
            var found = LmdbEngine.Found(LmdbNative.Get(transaction, handle, &nativeKey, &nativeValue));
            value = nativeValue.Span;
            return found;
        }
    }

    public void OpenCursor(nint reading)
    {
        nint cursor;
        LmdbEngine.Check(LmdbNative.OpenCursor(reading, handle, &cursor));
        _cursor = cursor;
    }

    public bool Move(int operation, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            LmdbValue nativeValue = default;
            var found = LmdbEngine.Found(LmdbNative.MoveCursor(_cursor, &nativeKey, &nativeValue, operation));
            value = nativeValue.Span;
            return found;
        }
    }

    public void EndCursor() => LmdbNative.CloseCursor(_cursor);
}
