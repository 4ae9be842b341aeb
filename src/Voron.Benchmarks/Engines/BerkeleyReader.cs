using System.Runtime.InteropServices;
using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.BerkeleyNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// Gets and scans outside a transaction, with short locks, because this engine has no snapshots by default. A get that fails in a
/// deadlock with the writer is repeated. Values are copied, because a threaded handle requires it.
/// </summary>
internal sealed unsafe class BerkeleyReader(nint database) : BenchmarkReader
{
    private const int FirstCapacity = 4096;

    private byte* _key = (byte*)NativeMemory.Alloc(FirstCapacity);
    private byte* _value = (byte*)NativeMemory.Alloc(FirstCapacity);
    private int _valueCapacity = FirstCapacity;
    private nint _cursor;

    public override void Begin()
    {
    }

    public override void End()
    {
        if (_cursor != 0)
            BerkeleyEngine.Check(CloseCursor(_cursor));
        _cursor = 0;
    }

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = BerkeleyValue.Input(keyData, key.Length);
            while (true)
            {
                var nativeValue = BerkeleyValue.Output(_value, _valueCapacity);
                var code = Get(database, 0, &nativeKey, &nativeValue, 0);
                if (code == Deadlock || TryGrow(code, nativeValue.Size))
                    continue;
                value = new ReadOnlySpan<byte>(_value, (int)nativeValue.Size);
                return Found(code);
            }
        }
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(PrepareCursor(), First, out key, out value);

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(PrepareCursor(), Last, out key, out value);

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(_cursor, Next, out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(_cursor, Previous, out key, out value);

    public override void Dispose()
    {
        End();
        NativeMemory.Free(_key);
        NativeMemory.Free(_value);
        _key = null;
        _value = null;
    }

    private bool Move(nint cursor, uint operation, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        while (true)
        {
            var nativeKey = BerkeleyValue.Output(_key, FirstCapacity);
            var nativeValue = BerkeleyValue.Output(_value, _valueCapacity);
            var code = MoveCursor(cursor, &nativeKey, &nativeValue, operation);
            if (TryGrow(code, nativeValue.Size))
                continue;
            key = new ReadOnlySpan<byte>(_key, (int)nativeKey.Size);
            value = new ReadOnlySpan<byte>(_value, (int)nativeValue.Size);
            return Found(code);
        }
    }

    /// <summary>A cursor whose call failed for lack of room has not moved, so the call can be repeated.</summary>
    private bool TryGrow(int code, uint neededBytes)
    {
        if (code != BufferSmall)
            return false;
        _valueCapacity = (int)Math.Max(neededBytes, (uint)_valueCapacity + 1);
        NativeMemory.Free(_value);
        _value = (byte*)NativeMemory.Alloc((nuint)_valueCapacity);
        return true;
    }

    private nint PrepareCursor()
    {
        if (_cursor != 0)
            return _cursor;
        nint cursor;
        BerkeleyEngine.Check(OpenCursor(database, 0, &cursor, 0));
        _cursor = cursor;
        return cursor;
    }

    private static bool Found(int code)
    {
        if (code != NotFound)
            BerkeleyEngine.Check(code);
        return code == 0;
    }
}
