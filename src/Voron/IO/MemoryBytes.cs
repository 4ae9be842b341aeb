using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// The bytes of a file in memory. They are at the start of a reservation, and maps show that same memory. When the file
/// outgrows the reservation, the bytes are copied to a larger one; until its last map is gone, the old one stays and receives the same writes.
/// </summary>
internal sealed unsafe class MemoryBytes : MemoryContent
{
    /// <summary>The smallest reservation in bytes, for files that are never mapped: those can move at any time.</summary>
    public const long SmallReservation = 64 << 10;

    private const long MinReservation = 1L << 20;

    // Protects the bytes, their length, and the regions with their maps. Comes before the locks of the regions' address space.
    private readonly Lock _gate = new();

    private readonly string _path;
    private readonly MemoryQuota _quota;

    /// <summary>The earlier reservations that maps still show.</summary>
    private readonly List<Region> _outgrown = [];
    private Region _current;
    private long _length;

    public MemoryBytes(string path, long reservation, MemoryQuota quota)
    {
        _path = path;
        _quota = quota;
        _current = new Region(Reserve(reservation));
    }

    public override long Length => Volatile.Read(ref _length);

    public override void Read(long offset, Span<byte> destination)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (destination.Length == 0)
                return;
            if (offset > _length - destination.Length)
                DiskRules.ThrowEndOfFile("read", _path, offset, destination.Length, _length);
            new ReadOnlySpan<byte>(_current.Space.Address + offset, destination.Length).CopyTo(destination);
        }
    }

    public override void Write(long offset, byte* source, long length)
    {
        if (length == 0)
            return;
        using (Uninterrupted.Hold(_gate))
        {
            EnsureLength(checked(offset + length));
            Buffer.MemoryCopy(source, _current.Space.Address + offset, length, length);
            foreach (var region in _outgrown)
            {
                var inside = Math.Min(length, (long)region.Space.Committed - offset);
                if (inside > 0)
                    Buffer.MemoryCopy(source, region.Space.Address + offset, inside, inside);
            }
        }
    }

    public override void EnsureLength(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (length <= _length)
                return;
            if (!_quota.TryTake(length - _length))
                throw new DiskException(DiskError.NoSpace, "extend", _path, $"{length - _length} bytes more than the limit of {_quota.Limit} allows");
            var isTaken = false;
            try
            {
                if (length > (long)_current.Space.Length)
                    MoveToLarger(length);
                _current.Space.EnsureCommitted((nuint)length);
                isTaken = true;
            }
            catch (InsufficientMemoryException e)
            {
                throw new DiskException(DiskError.NoSpace, "extend", _path, e.Message.TrimEnd('.'));
            }
            finally
            {
                if (!isTaken)
                    _quota.Return(length - _length);
            }
            Volatile.Write(ref _length, length);
        }
    }

    public override void SetLength(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (length > _length)
            {
                EnsureLength(length);
                return;
            }
            Zero(length, _length - length);
            _quota.Return(_length - length);
            Volatile.Write(ref _length, length);
        }
    }

    public override void Punch(long offset, long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (offset < _length)
                Zero(offset, Math.Min(length, _length - offset));
        }
    }

    public override FileMap Map(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (length > _length)
                DiskRules.ThrowEndOfFile("map", _path, 0, length, _length);
            if (!EngineMemory.Allows((nuint)length))
                throw new DiskException(DiskError.Failed, "map", _path, "there is no memory for the map");
            _current.Maps++;
            return new MemoryMap(this, _current, length);
        }
    }

    protected override void Free()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _quota.Return(_length);
            _current.IsCurrent = false;
            _current.FreeWhenUnused();
        }
    }

    private AddressSpace Reserve(long bytes)
    {
        while (true)
        {
            try
            {
                return AddressSpace.Reserve((nuint)bytes);
            }
            catch (InsufficientMemoryException e)
            {
                // Address space is limited here: a smaller reservation works as well, but the file outgrows it sooner.
                if (bytes <= MinReservation)
                    throw new DiskException(DiskError.NoSpace, "create", _path, e.Message.TrimEnd('.'));
                bytes = Math.Max(MinReservation, bytes / 4);
            }
        }
    }

    private void MoveToLarger(long length)
    {
        var larger = new Region(AddressSpace.Reserve((nuint)Math.Max(length, checked((long)_current.Space.Length * 2))));
        try
        {
            larger.Space.EnsureCommitted((nuint)length);
        }
        catch
        {
            larger.Space.Dispose();
            throw;
        }
        Buffer.MemoryCopy(_current.Space.Address, larger.Space.Address, length, _length);

        _current.IsCurrent = false;
        if (!_current.FreeWhenUnused())
            _outgrown.Add(_current);
        _current = larger;
    }

    private void Zero(long offset, long length)
    {
        _current.Space.Reset((nuint)offset, (nuint)length);
        foreach (var region in _outgrown)
        {
            var inside = Math.Min(length, (long)region.Space.Committed - offset);
            if (inside > 0)
                region.Space.Reset((nuint)offset, (nuint)inside);
        }
    }

    private sealed class Region(AddressSpace space)
    {
        public AddressSpace Space { get; } = space;

        public int Maps { get; set; }

        public bool IsCurrent { get; set; } = true;

        public bool FreeWhenUnused()
        {
            if (IsCurrent || Maps > 0)
                return false;
            Space.Dispose();
            return true;
        }
    }

    private sealed class MemoryMap : FileMap
    {
        private readonly MemoryBytes _content;
        private readonly Region _region;
        private bool _disposed;

        public MemoryMap(MemoryBytes content, Region region, long length)
        {
            _content = content;
            _region = region;
            Address = region.Space.Address;
            Length = length;
        }

        public override bool TryExtend(long length)
        {
            using (Uninterrupted.Hold(_content._gate))
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                if (length <= Length)
                    return true;
                if (length > _content._length)
                    DiskRules.ThrowEndOfFile("map", _content._path, 0, length, _content._length);
                if (!_region.IsCurrent)
                    return false;
                Length = length;
                return true;
            }
        }

        public override void Shrink(long length)
        {
            using (Uninterrupted.Hold(_content._gate))
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                DiskRules.CheckLengthInMap(length, Length);
                Length = length;
            }
        }

        protected override void Dispose(bool disposing)
        {
            using (Uninterrupted.Hold(_content._gate))
            {
                if (_disposed)
                    return;
                _disposed = true;
                _region.Maps--;
                if (_region.FreeWhenUnused())
                    _content._outgrown.Remove(_region);
                Address = null;
                Length = 0;
            }
        }
    }
}
