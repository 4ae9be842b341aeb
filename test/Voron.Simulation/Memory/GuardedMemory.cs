using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Primitives;

namespace Voron.Simulation.Memory;

/// <summary>
/// The allocator of the engine in all tests. It detects writes beside blocks, uses of freed memory, and blocks that are freed twice,
/// wrongly, or never.
/// </summary>
/// <remarks>
/// <code>
///   ... canary | block | canary ...         in use: fresh bytes are 0xCD; the canaries are checked when the block is freed, and by Sweep
///   ... canary | 0xDD  | canary ...         freed: held back, and checked for writes before the system gets it
/// </code>
/// A read of freed memory therefore returns bytes that no suite accepts as data. With <see cref="Protects"/>, on Linux, each block and each
/// freed range of whole memory pages is inaccessible instead: a read or a write there ends the process, at the instruction that makes it.
/// </remarks>
internal sealed unsafe class GuardedMemory : IMemoryGuard
{
    private const string Key = "Voron.MemoryGuard";

    private const byte Fresh = 0xCD;
    private const byte Freed = 0xDD;
    private const byte Canary = 0xFD;
    private const int CanaryBytes = 64;

    /// <summary>Only the ends of a longer range are filled: most of it may never have been touched, and would have to be fetched.</summary>
    private const int WholeBytes = 64 << 10;
    private const int EndBytes = 8 << 10;
    private const int PageBytes = 4096;

    private const long MaxHeldBytes = 4L << 20;
    private const int MaxHeldBlocks = 4096;
    private const int MaxKeptRanges = 128;
    private const ulong MaxKeptAddresses = 1UL << 43;

    /// <summary>Gives engine threads that no caller waits for the time to free their memory.</summary>
    private const long LeakPatience = 20_000;

    private const long SweepInterval = 1_000;

    /// <summary>
    /// The limit of reports. An engine that writes beside each block would be reported for each of thousands of blocks, again at each
    /// sweep, and a stack trace takes milliseconds on a busy machine: the case would not end.
    /// </summary>
    private const int MaxReports = 256;

    private static readonly nuint SystemPage = (nuint)Environment.SystemPageSize;

    private readonly Action<string> _report;
    private readonly ConcurrentDictionary<nint, GuardedBlock> _blocks = new();

    // Taken without interruption, like the engine's locks, so that no work under it ends half done: the engine frees memory while it is being closed.
    private readonly Lock _gate = new();
    private readonly Queue<GuardedBlock> _held = new();
    private readonly Dictionary<nint, GuardedBlock> _heldByAddress = [];
    private readonly Queue<(nint Address, nuint Bytes)> _kept = new();
    private long _heldBytes;
    private ulong _keptAddresses;
    private long _taken;
    private long _swept;
    private int _reports;

    public GuardedMemory(Action<string> report) => _report = report;

    /// <summary>The managed bytes that the calling thread has allocated here, and not in the engine.</summary>
    [field: ThreadStatic]
    public static long ManagedBytes { get; private set; }

    /// <summary>The allocator of this process, or null.</summary>
    public static GuardedMemory? Current => AppContext.GetData(Key) as GuardedMemory;

    /// <summary>The number of blocks taken so far.</summary>
    public long Taken => Interlocked.Read(ref _taken);

    /// <summary>The size in bytes of the address ranges that are held back.</summary>
    public long KeptAddresses
    {
        get
        {
            using (Uninterrupted.Hold(_gate))
                return (long)_keptAddresses;
        }
    }

    /// <summary>True to make freed memory, and the bytes beside a block, inaccessible.</summary>
    public bool Protects
    {
        get;
        set => field = value && OperatingSystem.IsLinux();
    }

    /// <summary>True to record where each block was taken, which is slow.</summary>
    public bool TracksOrigins { get; set; }

    /// <summary>Installs the allocator; must be called before the process uses the engine. A second call changes nothing.</summary>
    /// <param name="report">Receives each error, on any thread.</param>
    public static void Install(Action<string> report)
    {
        if (Current is null)
            AppContext.SetData(Key, new GuardedMemory(report));
    }

    /// <summary>Checks all blocks, both those in use and those held back.</summary>
    /// <param name="isQuick">True to skip the blocks that are held back if they were checked a moment ago.</param>
    public void Sweep(bool isQuick = false)
    {
        foreach (var block in _blocks.Values)
        {
            // The block may be freed meanwhile, which checks it too.
            using (Uninterrupted.Hold(block))
            {
                if (!block.IsFreed)
                    CheckCanaries(block);
            }
        }
        using (Uninterrupted.Hold(_gate))
        {
            var now = Environment.TickCount64;
            if (!Protects && (!isQuick || now - _swept > SweepInterval))
            {
                _swept = now;
                foreach (var block in _held)
                    CheckFreed(block);
            }
        }
    }

    /// <summary>
    /// Describes blocks that have been in use for long, and were taken before <paramref name="before"/>; null if there are none.
    /// </summary>
    /// <param name="before">A value of <see cref="Taken"/>.</param>
    /// <param name="after">Another one: blocks taken by then are not checked.</param>
    public string? Leaked(long before, long after)
    {
        var now = Environment.TickCount64;
        GuardedBlock[] leaked =
            [.. _blocks.Values.Where(block => block.Number > after && block.Number <= before && now - block.Since > LeakPatience)];
        return leaked.Length == 0 ? null : $"{leaked.Length} blocks are not freed, among them {leaked.MinBy(block => block.Number)}.";
    }

    /// <summary>Returns whether anything is left that <see cref="Leaked"/> would report in the end.</summary>
    public bool HasAny(long before, long after) => _blocks.Values.Any(block => block.Number > after && block.Number <= before);

    void* IMemoryGuard.Allocate(nuint bytes, nuint alignment, bool isZeroed)
    {
        var block = Take(bytes, alignment);
        if (isZeroed)
            NativeMemory.Clear((void*)block.Address, bytes);
        else
            Fill((byte*)block.Address, bytes, Fresh);
        return (void*)block.Address;
    }

    void* IMemoryGuard.Resize(void* block, nuint bytes)
    {
        nuint old = 0;
        if (block != null)
        {
            if (!_blocks.TryGetValue((nint)block, out var known))
                Report($"A block is resized that is {Describe((nint)block)}.");
            else
                old = known.Bytes;
        }
        var resized = (byte*)Take(bytes, 0).Address;
        Fill(resized, bytes, Fresh);
        Buffer.MemoryCopy(block, resized, bytes, Math.Min(old, bytes));
        if (old != 0)
            ((IMemoryGuard)this).Free(block, isAligned: false);
        return resized;
    }

    void IMemoryGuard.Free(void* address, bool isAligned)
    {
        if (address == null)
            return;
        if (!_blocks.TryRemove((nint)address, out var block))
        {
            Report($"A block is freed that is {Describe((nint)address)}.");
            return;
        }
        if (block.IsAligned != isAligned)
            Report($"{block} is freed as if it were {(isAligned ? "" : "not ")}aligned.");
        using (Uninterrupted.Hold(block))
        {
            block.IsFreed = true;
            if (block.IsMapped)
                PosixMemory.TryCommit((byte*)block.Raw + SystemPage, block.RawBytes - (2 * SystemPage));
            CheckCanaries(block);
        }
        Fill((byte*)address, block.Bytes, Freed);
        if (block.IsMapped)
            PosixMemory.TryHide((byte*)block.Raw, block.RawBytes);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Hold(block);
        ManagedBytes += GC.GetAllocatedBytesForCurrentThread() - before;
    }

    void IMemoryGuard.Reserved(byte* address, nuint bytes) => Note(new GuardedBlock((nint)address, bytes, (nint)address, bytes) { IsRange = true });

    bool IMemoryGuard.TryKeep(byte* address, nuint bytes)
    {
        _blocks.TryRemove((nint)address, out _);
        if (!OperatingSystem.IsLinux() || !PosixMemory.TryHide(address, bytes))
            return false;
        using (Uninterrupted.Hold(_gate))
        {
            _kept.Enqueue(((nint)address, bytes));
            _keptAddresses += bytes;
            while (_kept.Count > MaxKeptRanges || _keptAddresses > MaxKeptAddresses)
            {
                (var oldest, var length) = _kept.Dequeue();
                _keptAddresses -= length;
                PosixMemory.Unmap((byte*)oldest, length);
            }
        }
        return true;
    }

    void IMemoryGuard.Retire(void* start, nuint bytes, nuint kept)
    {
        if (start == null)
            return;
        Fill((byte*)start + kept, bytes - kept, Freed);
        if (Protects && Pages(start, bytes) is { Length: > 0 } pages)
            Libc.Protect((byte*)pages.Start, pages.Length, Platform.ProtectNone);
    }

    void IMemoryGuard.Revive(void* start, nuint bytes, nuint kept)
    {
        if (start == null)
            return;
        Unprotect(start, bytes);
        if (FindOther((byte*)start + kept, bytes - kept, Freed) is { } at)
            Report($"Memory that waits to be used again was written to, at byte {at + kept} of {bytes}: 0x{((byte*)start)[at + kept]:X2}.");
    }

    nint IMemoryGuard.ReadRetired(nint* address)
    {
        if (!Protects)
            return *address;
        Unprotect(address, PageBytes);
        var value = *address;
        Protect(address);
        return value;
    }

    void IMemoryGuard.WriteRetired(nint* address, nint value)
    {
        if (Protects)
            Unprotect(address, PageBytes);
        *address = value;
        if (Protects)
            Protect(address);
    }

    void IMemoryGuard.Open(void* start, nuint bytes) => Unprotect(start, bytes);

    void IMemoryGuard.Spoil(Span<byte> bytes) => bytes.Fill(Freed);

    private static void Protect(nint* address) => Libc.Protect((byte*)address, SystemPage, Platform.ProtectNone);

    private void Unprotect(void* start, nuint bytes)
    {
        if (Protects && Pages(start, bytes) is { Length: > 0 } pages)
            PosixMemory.TryCommit((byte*)pages.Start, pages.Length);
    }

    // Returns the memory pages that lie wholly within a range.
    private static (nint Start, nuint Length) Pages(void* start, nuint bytes)
    {
        var page = (nint)SystemPage;
        var first = ((nint)start + page - 1) & -page;
        var last = ((nint)start + (nint)bytes) & -page;
        return (first, last > first ? (nuint)(last - first) : 0);
    }

    private GuardedBlock Take(nuint bytes, nuint alignment)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        var block = TakeBlock(bytes, alignment);
        ManagedBytes += GC.GetAllocatedBytesForCurrentThread() - before;
        return block;
    }

    private GuardedBlock TakeBlock(nuint bytes, nuint alignment)
    {
        var block = Protects && alignment <= SystemPage ? TryMap(bytes, Math.Max(alignment, 16)) : null;
        if (block is null)
        {
            var front = Math.Max(alignment, CanaryBytes);
            var rawBytes = checked(front + bytes + CanaryBytes);
            var raw = (nint)NativeMemory.AlignedAlloc(rawBytes, front);
            block = new GuardedBlock(raw + (nint)front, bytes, raw, rawBytes);
        }
        block.IsAligned = alignment != 0;
        FillCanaries(block);
        Note(block);
        return block;
    }

    // The end of the block is as near to the end of the page as its alignment allows.
    private static GuardedBlock? TryMap(nuint bytes, nuint alignment)
    {
        var inner = (Math.Max(bytes, 1) + SystemPage - 1) & ~(SystemPage - 1);
        var raw = PosixMemory.TryReserve(inner + (2 * SystemPage));
        if (raw == null)
            return null;
        if (!PosixMemory.TryCommit(raw + SystemPage, inner))
        {
            PosixMemory.Unmap(raw, inner + (2 * SystemPage));
            return null;
        }
        var padded = (bytes + alignment - 1) & ~(alignment - 1);
        return new GuardedBlock((nint)(raw + SystemPage + inner - padded), bytes, (nint)raw, inner + (2 * SystemPage)) { IsMapped = true };
    }

    private void Note(GuardedBlock block)
    {
        block.Number = Interlocked.Increment(ref _taken);
        block.Since = Environment.TickCount64;
        if (TracksOrigins)
            block.Origin = Environment.StackTrace;
        _blocks[block.Address] = block;
    }

    private void Hold(GuardedBlock block)
    {
        using (Uninterrupted.Hold(_gate))
        {
            _held.Enqueue(block);
            _heldByAddress[block.Address] = block;
            _heldBytes += (long)block.RawBytes;
            while (_held.Count > MaxHeldBlocks || _heldBytes > MaxHeldBytes)
            {
                var oldest = _held.Dequeue();
                _heldByAddress.Remove(oldest.Address);
                _heldBytes -= (long)oldest.RawBytes;
                Release(oldest);
            }
        }
    }

    private void Release(GuardedBlock block)
    {
        if (block.IsMapped)
        {
            PosixMemory.Unmap((byte*)block.Raw, block.RawBytes);
            return;
        }
        CheckFreed(block);
        NativeMemory.AlignedFree((void*)block.Raw);
    }

    private void CheckFreed(GuardedBlock block)
    {
        if (block.IsMapped)
            return;
        if (FindOther((byte*)block.Address, block.Bytes, Freed) is { } at)
            Report($"{block} was written to after it was freed, at byte {at}: 0x{((byte*)block.Address)[at]:X2}.");
        CheckCanaries(block);
    }

    private static void FillCanaries(GuardedBlock block)
    {
        (var front, var frontBytes, var back, var backBytes) = Canaries(block);
        new Span<byte>((void*)front, frontBytes).Fill(Canary);
        new Span<byte>((void*)back, backBytes).Fill(Canary);
    }

    private void CheckCanaries(GuardedBlock block)
    {
        if (block.IsRange)
            return;
        (var front, var frontBytes, var back, var backBytes) = Canaries(block);
        if (new ReadOnlySpan<byte>((void*)front, frontBytes).LastIndexOfAnyExcept(Canary) is >= 0 and var before)
            Report($"A byte was written {frontBytes - before} before the beginning of {block}.");
        if (new ReadOnlySpan<byte>((void*)back, backBytes).IndexOfAnyExcept(Canary) is >= 0 and var behind)
            Report($"A byte was written {behind + 1} behind the end of {block}.");
    }

    private static (nint Front, int FrontBytes, nint Back, int BackBytes) Canaries(GuardedBlock block)
    {
        var first = block.IsMapped ? block.Raw + (nint)SystemPage : block.Raw;
        var end = block.Raw + (nint)block.RawBytes - (block.IsMapped ? (nint)SystemPage : 0);
        var front = (int)Math.Min(CanaryBytes, block.Address - first);
        var behind = block.Address + (nint)block.Bytes;
        return (block.Address - front, front, behind, (int)Math.Min(CanaryBytes, end - behind));
    }

    private static void Fill(byte* start, nuint bytes, byte value)
    {
        if (bytes <= WholeBytes)
        {
            new Span<byte>(start, (int)bytes).Fill(value);
            return;
        }
        new Span<byte>(start, EndBytes).Fill(value);
        new Span<byte>(start + bytes - EndBytes, EndBytes).Fill(value);
    }

    private static nuint? FindOther(byte* start, nuint bytes, byte value)
    {
        if (bytes <= WholeBytes)
            return FindOther(start, 0, (int)bytes, value);
        return FindOther(start, 0, EndBytes, value) ?? FindOther(start, bytes - EndBytes, EndBytes, value);
    }

    private static nuint? FindOther(byte* start, nuint from, int bytes, byte value) =>
        new ReadOnlySpan<byte>(start + from, bytes).IndexOfAnyExcept(value) is >= 0 and var at ? from + (nuint)at : null;

    private string Describe(nint address)
    {
        using (Uninterrupted.Hold(_gate))
            return _heldByAddress.TryGetValue(address, out var block) ? $"freed already: {block}" : $"none, at 0x{address:X}";
    }

    private void Report(string what)
    {
        var number = Interlocked.Increment(ref _reports);
        if (number <= MaxReports)
            _report($"{what}{(number == MaxReports ? " No more is reported." : "")}\n{Environment.StackTrace}");
    }
}
