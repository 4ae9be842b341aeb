using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>Makes every change of a disk's files hang while it stalls, like a device that has too much to do.</summary>
internal sealed class StallingDisk : IDisposable
{
    private readonly ManualResetEventSlim _isFree = new(true);
    private int _waiting;

    /// <summary>The number of calls that hang.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    public void Stall() => _isFree.Reset();

    public void GoOn() => _isFree.Set();

    public DiskFile Watch(string name, DiskFile file) => new StallingFile(this, file);

    /// <summary>Waits until the disk no longer stalls, or until the time has passed.</summary>
    public void WaitUntilFree(TimeSpan longest) => _isFree.Wait(longest);

    public void Dispose() => _isFree.Dispose();

    private void Pass()
    {
        if (_isFree.IsSet)
            return;
        Interlocked.Increment(ref _waiting);
        _isFree.Wait();
        Interlocked.Decrement(ref _waiting);
    }

    private sealed class StallingFile(StallingDisk disk, DiskFile file) : DiskFile(file.Path, file.Access)
    {
        public override long Length => file.Length;

        public override void SetLength(long length)
        {
            disk.Pass();
            file.SetLength(length);
        }

        public override void Allocate(long offset, long length)
        {
            disk.Pass();
            file.Allocate(offset, length);
        }

        public override bool TryPunchHole(long offset, long length)
        {
            disk.Pass();
            return file.TryPunchHole(offset, length);
        }

        public override void Read(long offset, Span<byte> destination) => file.Read(offset, destination);

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            disk.Pass();
            file.Write(offset, source);
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            disk.Pass();
            file.WriteVectored(offset, blocks);
        }

        public override void Sync()
        {
            disk.Pass();
            file.Sync();
        }

        public override bool TryWriteBack(long offset, long length)
        {
            disk.Pass();
            return file.TryWriteBack(offset, length);
        }

        public override FileMap Map(long length) => file.Map(length);

        protected override void Dispose(bool disposing) => file.Dispose();
    }
}
