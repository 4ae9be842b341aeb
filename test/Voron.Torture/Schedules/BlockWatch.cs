using Voron.IO;
using Voron.Opening;
using Voron.Paging;
using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>
/// Tracks which bytes of the data file have blocks: those that were allocated or written, and not cut off since. A page without a block is a
/// page whose write may find the disk full long after a commit has been acknowledged.
/// </summary>
internal sealed class BlockWatch
{
    private const long Unit = 4096;

    private readonly List<bool> _blocks = [];

    public DiskFile Watch(string name, DiskFile file) =>
        name is DataFile.FileName or EnvironmentCreator.UnfinishedDataName ? new WatchedFile(this, file) : file;

    /// <exception cref="BrokenPromiseException">Some of the file's bytes have no blocks, or fewer bytes have blocks than are in use.</exception>
    public void Check(long length)
    {
        var hole = _blocks.FindIndex(isThere => !isThere);
        BrokenPromiseException.Require(hole < 0, $"The data file has {_blocks.Count * Unit} bytes, and those at {hole * Unit} have no blocks.");
        BrokenPromiseException.Require(
            _blocks.Count * Unit >= length, $"The data file has {_blocks.Count * Unit} bytes with blocks, and {length} are in use.");
    }

    private void Add(long offset, long length)
    {
        for (var unit = offset / Unit; unit * Unit < offset + length; unit++)
        {
            while (_blocks.Count <= unit)
                _blocks.Add(false);
            _blocks[(int)unit] = true;
        }
    }

    private void Cut(long length)
    {
        if (length / Unit < _blocks.Count)
            _blocks.RemoveRange((int)(length / Unit), _blocks.Count - (int)(length / Unit));
    }

    private sealed class WatchedFile(BlockWatch watch, DiskFile file) : DiskFile(file.Path, file.Access)
    {
        public override long Length => file.Length;

        public override void SetLength(long length)
        {
            file.SetLength(length);
            watch.Cut(length);
        }

        public override void Allocate(long offset, long length)
        {
            file.Allocate(offset, length);
            watch.Add(offset, length);
        }

        // Blocks that were returned on purpose would look like blocks that were never allocated.
        public override bool TryPunchHole(long offset, long length) => false;

        public override void Read(long offset, Span<byte> destination) => file.Read(offset, destination);

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            file.Write(offset, source);
            watch.Add(offset, source.Length);
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            file.WriteVectored(offset, blocks);
            foreach (var block in blocks)
            {
                watch.Add(offset, (long)block.Length);
                offset += (long)block.Length;
            }
        }

        public override void Sync() => file.Sync();

        public override bool TryWriteBack(long offset, long length) => file.TryWriteBack(offset, length);

        public override FileMap Map(long length) => file.Map(length);

        protected override void Dispose(bool disposing) => file.Dispose();
    }
}
